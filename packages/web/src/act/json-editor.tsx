import { escapeControls } from "@parlance/mcp/jsonrpc";
import { isObject } from "@parlance/mcp/protocol";
import { nodeAt, scanJson } from "@parlance/wire";
import type { JSX, TargetedKeyboardEvent } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { nextSuggestion, Suggestions } from "../controls.js";
import { proseText } from "../format.js";
import type { PageFault } from "../protocol.js";
import { fieldOf, membersOf, resolved } from "./fields.js";

type Schema = Readonly<Record<string, unknown>>;

/** The most suggestions at a time. */
const most = 12;

interface JsonEditorOptions {
  readonly id: string;
  readonly text: string;
  readonly rows: number;
  /** The schema of the whole text. */
  readonly schema: Schema;
  /** Faults by the schema. */
  readonly faults: readonly PageFault[];
  /** Why the text cannot be read at all. */
  readonly unreadable: string | undefined;
  readonly onInput: (text: string) => void;
}

/** A text of JSON: names and values complete by the schema, and each fault leads to its place. */
export function JsonEditor({ id, text, rows, schema, faults, unreadable, onInput }: JsonEditorOptions): JSX.Element {
  const element = useRef<HTMLTextAreaElement>(null);
  /** Where the caret goes when the text that was completed shows. */
  const next = useRef<number | undefined>(undefined);
  const [open, setOpen] = useState<Completion>();
  const [highlighted, setHighlighted] = useState(-1);
  const shown = open?.suggestions ?? [];
  const suggest = (written: string): void => {
    setOpen(completionAt(written, element.current?.selectionStart ?? 0, schema));
    setHighlighted(-1);
  };
  useLayoutEffect(() => {
    if (next.current !== undefined) element.current?.setSelectionRange(next.current, next.current);
    next.current = undefined;
  }, [text]);
  const accept = (suggestion: string): void => {
    const { from = 0, to = 0 } = open ?? {};
    next.current = from + suggestion.length;
    setOpen(undefined);
    onInput(text.slice(0, from) + suggestion + text.slice(to));
  };
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLTextAreaElement>): void => {
    const { key, ctrlKey, metaKey } = event;
    const chosen = shown[highlighted];
    if (key === " " && ctrlKey) suggest(text);
    else if (ctrlKey || metaKey) return;
    else if (shown.length > 0 && (key === "ArrowDown" || key === "ArrowUp")) {
      setHighlighted(nextSuggestion(highlighted, key, shown.length));
    } else if ((key === "Enter" || key === "Tab") && chosen !== undefined) accept(chosen);
    else if (key === "Escape" && shown.length > 0) setOpen(undefined);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <>
      <div class="completed">
        <textarea
          ref={element}
          id={id}
          spellcheck={false}
          rows={rows}
          value={text}
          aria-autocomplete="list"
          aria-controls={`${id}-suggestions`}
          aria-activedescendant={shown[highlighted] === undefined ? undefined : `${id}-suggestion-${highlighted}`}
          aria-invalid={unreadable !== undefined || faults.length > 0}
          aria-describedby={`${id}-faults`}
          onBlur={() => setOpen(undefined)}
          onKeyDown={onKeyDown}
          onInput={({ currentTarget: { value } }) => {
            suggest(value);
            onInput(value);
          }}
        />
        <Suggestions
          id={`${id}-suggestion`}
          shown={shown}
          highlighted={highlighted}
          onAccept={accept}
          render={escapeControls}
        />
      </div>
      <div id={`${id}-faults`}>
        {unreadable !== undefined && <p class="fault">{unreadable}</p>}
        {faults.map(({ path, message }) => (
          <Fault key={`${path} ${message}`} range={rangeOf(text, path)} text={text} element={element}>
            {proseText(`${path} ${message}`)}
          </Fault>
        ))}
      </div>
    </>
  );
}

interface FaultOptions {
  /** The characters that it is about. */
  readonly range: readonly [start: number, end: number] | undefined;
  readonly text: string;
  readonly element: { readonly current: HTMLTextAreaElement | null };
  readonly children: string;
}

/** A fault with its line, which selects its place in the text. */
function Fault({ range, text, element, children }: FaultOptions): JSX.Element {
  if (range === undefined) return <p class="fault">{children}</p>;
  return (
    <p class="fault">
      <button
        type="button"
        class="link"
        onClick={() => {
          element.current?.focus();
          element.current?.setSelectionRange(...range);
        }}
      >
        line {text.slice(0, range[0]).split("\n").length}
      </button>{" "}
      {children}
    </p>
  );
}

/** The characters of the value at a pointer; of one that is absent, those of the value that lacks it. */
function rangeOf(text: string, pointer: string): readonly [start: number, end: number] | undefined {
  const bytes = new TextEncoder().encode(text);
  const scan = scanJson(bytes);
  if (!scan.ok) return undefined;
  const node = nodeAt(scan.root, pointer) ?? nodeAt(scan.root, pointer.replace(/\/[^/]*$/, ""));
  const characters = (end: number): number => new TextDecoder().decode(bytes.subarray(0, end)).length;
  return node && [characters(node.start), characters(node.end)];
}

/** What fits in the place of the word at the caret. */
interface Completion {
  readonly from: number;
  readonly to: number;
  readonly suggestions: readonly string[];
}

/** An open object or array before the caret. */
interface Open {
  readonly isObject: boolean;
  readonly names: Set<string>;
  /** The name of the member, or the place of the element, that comes. */
  step: string;
  /** A name comes, and not a value. */
  isName: boolean;
}

const token = /"(?:[^"\\]|\\.)*"?|[{}[\],:]|[^\s{}[\],:"]+/g;

/** What the schema allows at a place of a text that may be incomplete. */
function completionAt(text: string, caret: number, root: Schema): Completion | undefined {
  const open: Open[] = [];
  let word = { from: caret, to: caret, text: "" };
  for (const { 0: part, index } of text.matchAll(token)) {
    if (index >= caret) break;
    const last = open.at(-1);
    const isWord = !/^[{}[\],:]$/.test(part);
    // A string that has ended before the caret is no word to complete.
    if (isWord && index + part.length >= caret && !/^".*"$/.test(text.slice(index, caret))) {
      word = { from: index, to: index + part.length, text: text.slice(index, caret) };
      break;
    }
    if (part === "{" || part === "[")
      open.push({ isObject: part === "{", names: new Set(), step: part === "{" ? "" : "0", isName: part === "{" });
    else if (part === "}" || part === "]") open.pop();
    else if (last === undefined) continue;
    else if (part === ":") last.isName = false;
    else if (part === ",") {
      last.isName = last.isObject;
      if (!last.isObject) last.step = String(Number(last.step) + 1);
    } else if (last.isName) {
      last.step = nameOf(part);
      last.names.add(last.step);
    }
  }
  const last = open.at(-1);
  if (last === undefined) return undefined;
  const path = open.map(({ step }) => step);
  const holder = schemaAt(root, last.isName ? path.slice(0, -1) : path);
  const all = last.isName ? namesOf(holder, last.names) : valuesOf(holder);
  const started = word.text.replace(/^"/, "").toLowerCase();
  const suggestions = all.filter(
    (each) => each !== word.text && each.replace(/^"/, "").toLowerCase().startsWith(started),
  );
  return { ...word, suggestions: suggestions.slice(0, most) };
}

function nameOf(literal: string): string {
  try {
    return String(JSON.parse(literal));
  } catch {
    return ""; // It is not complete.
  }
}

/** The schema of the value at a path. */
function schemaAt(root: Schema, path: readonly string[]): Schema {
  let schema = resolved(root, root);
  for (const step of path) {
    const { properties, items, additionalProperties } = schema;
    const own = isObject(properties) && Object.hasOwn(properties, step) ? properties[step] : undefined;
    const below = own ?? (isObject(items) ? items : additionalProperties);
    if (!isObject(below)) return {};
    schema = resolved(below, root);
  }
  return schema;
}

/** The members that are not there yet, those that are required first. */
function namesOf(schema: Schema, known: ReadonlySet<string>): readonly string[] {
  return membersOf(schema).flatMap(({ name }) => (known.has(name) ? [] : `${JSON.stringify(name)}: `));
}

function valuesOf(schema: Schema): readonly string[] {
  const field = fieldOf(schema);
  const examples: readonly unknown[] = Array.isArray(schema.examples) ? schema.examples : [];
  const values = [
    ...(field.kind === "choice" ? field.choices : field.kind === "boolean" ? [true, false] : []),
    ...("default" in schema ? [schema.default] : []),
    ...examples,
  ];
  return [...new Set(values.map((value) => JSON.stringify(value)))];
}
