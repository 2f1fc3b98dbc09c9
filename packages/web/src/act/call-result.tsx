import { escapeControls } from "@parlance/mcp/jsonrpc";
import { isObject } from "@parlance/mcp/protocol";
import { nodeAt, scanJson } from "@parlance/wire";
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { bytesText, durationText } from "../format.js";
import { linesOf } from "../json/json-lines.js";
import type { PageCall, PageResult } from "../protocol.js";
import { addFilter, follows, panel, select } from "../state.js";
import { result, shown } from "./act-state.js";

/** The maximum number of lines shown of a result; the frame has all of them. */
const mostLines = 400;

/** Whether the whole JSON of the result is shown. */
const isWhole = signal(false);

/** The outcome of a call. All of it is rendered as text, never as HTML. */
export function CallResult(): JSX.Element | null {
  const call = shown.value;
  const element = useRef<HTMLDivElement>(null);
  const isRead = result.value !== undefined;
  useEffect(() => {
    if (isRead) element.current?.scrollIntoView({ block: "nearest" });
  }, [isRead, call?.key]);
  if (call === undefined) return null;
  const read = result.value;
  return (
    <div ref={element} class="result" role="region" aria-label="Result" aria-busy={read === undefined}>
      <Outcome call={call} read={read} />
      {read?.kind === "none" && read.says !== "" && <p class="fault">{read.says}</p>}
      {read !== undefined && read.kind !== "none" && <Content read={read} />}
    </div>
  );
}

/** Shows a frame of the call. */
function goTo(n: number): void {
  follows.value = false;
  panel.value = "frame";
  void select(n);
}

function Outcome({ call, read }: { readonly call: PageCall; readonly read: PageResult | undefined }): JSX.Element {
  const { took, request, response, state } = call;
  const failed = read?.kind === "result" && /"isError"\s*:\s*true/.test(read.json);
  const words = { running: "waiting", cancelled: "cancelled", failed: "failed", done: failed ? "isError" : "result" };
  const said = read?.kind === "error" ? "error response" : words[state];
  return (
    <h3>
      <b class={failed || state === "failed" ? "must" : state === "done" ? "ok" : "pending"}>{said}</b>
      {state !== "running" && <span>{durationText(took)}</span>}
      {request !== undefined && (
        <button type="button" onClick={() => goTo(request)}>
          request {request}
        </button>
      )}
      {response !== undefined && (
        <button type="button" onClick={() => goTo(response)}>
          response {response}
        </button>
      )}
      {request !== undefined && (
        <button type="button" onClick={() => addFilter(`pair(${request})`)}>
          only this call
        </button>
      )}
    </h3>
  );
}

function Content({ read: { kind, json } }: { readonly read: Exclude<PageResult, { kind: "none" }> }): JSX.Element {
  const value: unknown = JSON.parse(json);
  const blocks = kind === "result" && isObject(value) ? blocksOf(value) : [];
  const hasStructure = isObject(value) && value.structuredContent !== undefined;
  return (
    <>
      {blocks.map((block, index) => (
        <pre key={index} class="block" tabIndex={0}>
          {blockText(block)}
        </pre>
      ))}
      {hasStructure && !isWhole.value && (
        <>
          <h4>structuredContent</h4>
          <Json json={json} pointer="/structuredContent" />
        </>
      )}
      {(isWhole.value || (blocks.length === 0 && !hasStructure)) && <Json json={json} pointer="" />}
      {(blocks.length > 0 || hasStructure) && (
        <button type="button" aria-pressed={isWhole.value} onClick={() => (isWhole.value = !isWhole.value)}>
          whole result
        </button>
      )}
    </>
  );
}

/** The content blocks of a tool's result, the messages of a prompt, or the contents of a resource. */
function blocksOf({
  content,
  messages,
  contents,
  structuredContent,
}: Readonly<Record<string, unknown>>): readonly unknown[] {
  const list = content ?? messages ?? contents;
  if (!Array.isArray(list)) return [];
  // A tool repeats its structured output as text, for clients that read only text.
  const structure = JSON.stringify(structuredContent);
  return list.filter((block) => structure === undefined || !isObject(block) || repeated(block.text) !== structure);
}

/** A text as JSON without its white space; undefined for any other text. */
function repeated(text: unknown): string | undefined {
  try {
    return typeof text === "string" ? JSON.stringify(JSON.parse(text)) : undefined;
  } catch {
    return undefined; // Text that is not JSON does not repeat the structured content.
  }
}

function blockText(block: unknown): string {
  if (!isObject(block)) return visible(JSON.stringify(block));
  const { role, content, text, type, resource, uri, mimeType, data, blob } = block;
  if (role !== undefined) return `${String(role)}: ${[content].flat().map(blockText).join("\n")}`;
  if (typeof text === "string") return visible(text);
  if (isObject(resource)) return `[resource ${visible(String(resource.uri))}]\n${blockText(resource)}`;
  const base64 = typeof data === "string" ? data : typeof blob === "string" ? blob : undefined;
  const size = base64 === undefined ? undefined : bytesText(Math.floor((base64.replace(/=+$/, "").length * 3) / 4));
  const facts = [type, mimeType, uri, size].filter((fact) => fact !== undefined).map(String);
  return visible(`[${facts.join(", ")}]`);
}

/** A text with its line breaks; other control characters are shown as escapes. */
function visible(text: string): string {
  const lines = text.split("\n");
  const rest = lines.length > mostLines ? [`… ${lines.length - mostLines} more lines: the frame has all`] : [];
  return [...lines.slice(0, mostLines).map((line) => escapeControls(line)), ...rest].join("\n");
}

/** A JSON value with the original spelling of numbers and names. */
function Json({ json, pointer }: { readonly json: string; readonly pointer: string }): JSX.Element | null {
  const bytes = new TextEncoder().encode(json);
  const scan = scanJson(bytes);
  const node = scan.ok ? nodeAt(scan.root, pointer) : undefined;
  if (node === undefined) return null;
  const lines = linesOf(node, bytes, new Set());
  return (
    <pre class="block json" tabIndex={0}>
      {lines.slice(0, mostLines).map(({ depth, name, text, kind }, index) => (
        <span key={index}>
          {"  ".repeat(depth)}
          {name !== undefined && <span class="name">{name}: </span>}
          <span class={kind}>{text}</span>
          {"\n"}
        </span>
      ))}
      {lines.length > mostLines && `… ${lines.length - mostLines} more lines: the frame has all`}
    </pre>
  );
}
