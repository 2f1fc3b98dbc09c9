import { ExactNumber, escapeControls, type Id } from "@parlance/mcp/jsonrpc";
import { isObject, type JsonObject, metaKeys, methods, notifications } from "@parlance/mcp/protocol";
import {
  bytesOf,
  type Entry,
  type FrameEntry,
  latencyOf,
  literalOf,
  pairOf,
  type Row,
  type Sender,
  type Verdict,
  type WireMessage,
  wording,
} from "@parlance/wire";
import { excerpt } from "./columns.js";
import { bytesText, count } from "./quantities.js";
import { frameRows, type Look, type Mark, type Part, partWords, type Remark, remarkRows } from "./rows.js";

/** The maximum number of characters shown of a frame that is not a message. */
const longestNoise = 400;

/** The row of a frame. */
export interface FrameRow extends Row {
  readonly entry: FrameEntry;
  readonly from: Sender;
  /** Why the channel refused the frame; undefined if it did not. */
  readonly refused?: string;
}

/** A row of a conversation as lines of text. */
export function rowLines(row: Row, look: Look): readonly string[] {
  if (!isFrameRow(row)) return remarkRows({ ...remarkOf(row), marks: row.verdicts.map(markOf) }, look);
  return frameRows(row, partsOf(row), look);
}

/** The text of a row, in one line without control characters. */
export function rowText(row: Row): string {
  const said = isFrameRow(row) ? partsOf(row).map(partText).join(", ") : wordsOf(row.entry);
  return escapeControls(said);
}

function partText(part: Part): string {
  const { name, said } = partWords(part);
  return `${name} ${said}`.trim();
}

function isFrameRow(row: Row): row is FrameRow {
  return row.entry.k === "f" && row.from !== undefined;
}

/** The messages of a frame, or one part for a frame that is not a message. */
export function partsOf(row: FrameRow): readonly Part[] {
  const { entry, messages, refused } = row;
  const parts = messages.length === 0 ? [noiseOf(row, entry)] : messages.map(messageOf);
  const refusal: readonly Mark[] = refused === undefined ? [] : [{ level: "must", text: refused }];
  return parts.map((part, index) => ({ ...part, marks: [...refusal, ...marksOf(row, index).map(markOf)] }));
}

/** The verdicts on one message of a frame. Verdicts on a whole batch go to its first message. */
function marksOf({ messages, verdicts }: Row, index: number): readonly Verdict[] {
  if (messages.length <= 1) return verdicts;
  const owner = ({ pointer = "" }: Verdict): number =>
    Math.max(
      0,
      messages.findIndex((message) => message.holds(pointer)),
    );
  return verdicts.filter((verdict) => owner(verdict) === index);
}

function markOf(verdict: Verdict): Mark {
  const { level, rule, party } = verdict;
  return { level, text: `${rule.id} ${level === "must" ? `${party}: ` : ""}${verdictText(verdict)}` };
}

/** The place and the finding of a verdict. */
export function verdictText(verdict: Verdict): string {
  const { pointer = "" } = verdict;
  return `${pointer === "" ? "" : `${pointer} `}${wording.messageWithoutPlace(verdict)}`;
}

type Unmarked = Omit<Part, "marks">;

function messageOf(message: WireMessage): Unmarked {
  const { kind, concerns, id } = message;
  const method = message.method ?? concerns?.request.method;
  const latency = latencyOf(message);
  // Of a request, its response is not yet known; a notification may be about a request, as progress is.
  const pair = kind === "ntf" ? concerns?.request.frame.n : kind === "req" ? undefined : pairOf(message);
  return {
    kind: kind === "none" ? "noise" : kind,
    detail: detailOf(message, method),
    ...(id === undefined ? {} : { id: idOf(id) }),
    ...(pair === undefined ? {} : { pair }),
    ...(method === undefined ? {} : { method }),
    ...(latency === undefined ? {} : { latency }),
    ...(message.result?.isError === true ? { isError: true } : {}),
  };
}

/** The digest of a message. A response also has the name of the tool that was called. */
function detailOf(message: WireMessage, method: string | undefined): string {
  const { value, concerns, kind, frame } = message;
  const said =
    kind !== "none" && isObject(value)
      ? digest(value, method)
      : excerpt(literalOf(message.node, frame.bytes), longestNoise);
  const name = message.method === undefined ? concerns?.request.names : undefined;
  return name === undefined ? said : `${name} ${said}`;
}

/** The value of an id; its literal if JSON.parse would change it. */
function idOf(literal: string): Id {
  const value = JSON.parse(literal) as unknown; // The scan has validated it.
  if (typeof value === "string" || value === null) return value;
  return typeof value === "number" && String(value) === literal ? value : new ExactNumber(literal);
}

function noiseOf({ kind, frame, refused, exchange }: FrameRow, { len, ev }: FrameEntry): Unmarked {
  if (kind === "event") {
    const { id, retry } = ev ?? {};
    const fields = [
      ...(id === undefined ? [] : [`id ${excerpt(id, longestNoise)}`]),
      ...(retry === undefined ? [] : [`retry ${retry} ms`]),
    ];
    return { kind, detail: fields.join(", ") };
  }
  const bytes = frame?.bytes ?? new Uint8Array(0);
  const text = literalOf({ start: 0, end: Math.min(bytes.length, longestNoise * 4) }, bytes);
  const said = excerpt(text, longestNoise);
  const isCut = frame?.whole === false && refused === undefined;
  const detail = isCut ? `cut by the recorder, ${bytesText(bytes.length)} kept: ${said}` : said;
  const step = exchange?.signIn;
  if (kind === "oauth" && step !== undefined) return { kind, detail, ...(step !== "other" && { method: step }) };
  return { kind: kind === "frag" || (frame !== undefined && bytes.length < len) ? "frag" : "noise", detail };
}

function remarkOf({ entry, n, at, kind, from }: Row): Remark {
  const who = entry.k === "h" || entry.k === "l" ? (from ?? "server") : entry.k === "e" ? "server" : "recorder";
  return { n, at, who, kind, text: wordsOf(entry) };
}

/** The text of an entry that is not a frame. It may hold text of a peer: escape it. */
export function wordsOf(entry: Entry): string {
  switch (entry.k) {
    case "e":
      return excerpt(stderrText(entry), 4 * longestNoise).replace(/(?:\r?\n)+$/, "");
    case "h":
      return httpWords(entry);
    case "l":
      return lifeWords(entry);
    case "gap":
      return `${count(entry.lost, "line")} missing: ${entry.why}`;
    case "a":
      return `on ${entry.n}: ${entry.text}`;
    case "r":
      return ruleWords(entry);
    default:
      return "";
  }
}

const fates = {
  hold: "held at the breakpoint",
  send: "released at the breakpoint",
  change: "changed at the breakpoint",
  drop: "dropped at the breakpoint",
  answer: "answered at the breakpoint",
} as const;

/** An action of the recorder, and the frame that it is about. */
export function ruleWords(entry: Extract<Entry, { readonly k: "r" }>): string {
  const { break: breakpoint, fault, redact, of, did } = entry;
  const at = did !== undefined && Object.hasOwn(fates, did) ? fates[did] : "breakpoint";
  const words = [breakpoint !== undefined && `${at} ${breakpoint}`, fault, redact, of !== undefined && `(frame ${of})`];
  return words.filter((each) => each !== undefined && each !== false).join(" ");
}

function stderrText(entry: Extract<Entry, { readonly k: "e" }>): string {
  const bytes = bytesOf(entry);
  return literalOf({ start: 0, end: bytes.length }, bytes);
}

function httpWords({ ph, method, url, status, headers = [], why, x }: Extract<Entry, { readonly k: "h" }>): string {
  const type = headers.find(([name]) => name.toLowerCase() === "content-type")?.[1];
  if (ph === "req") return `${method ?? ""} ${url ?? ""} (exchange ${x})`;
  if (ph === "res") return [status, type, `(exchange ${x})`].filter((each) => each !== undefined).join(" ");
  return ph === "end" ? `the exchange has ended (exchange ${x})` : `broken off: ${why ?? "no reason"} (exchange ${x})`;
}

const lives: Readonly<Record<string, string>> = {
  "stdin-end": "its input has ended",
  open: "opened",
  close: "closed its side",
  hold: "held",
  release: "released",
  "ui-attach": "the page was opened",
};

function lifeWords({ ev, code, sig, pid, why, len = 0 }: Extract<Entry, { readonly k: "l" }>): string {
  if (ev === "spawn") return `started${pid === undefined ? "" : `, pid ${pid}`}`;
  if (ev === "exit" && why !== undefined) return why;
  if (ev === "exit") return typeof sig === "string" ? `was ended by ${sig}` : `exited with code ${code ?? "unknown"}`;
  if (ev === "signal") return `was sent ${sig ?? "a signal"}`;
  if (ev === "partial") return `holds ${bytesText(len)} of an unfinished line`;
  return lives[ev] ?? ev;
}

/** The digest of the params or the result of one method. */
type Reader = (value: JsonObject) => string;

/** The maximum number of characters in a line. */
const longest = 400;

/**
 * The text of a message without its method, in a few words of the peer: escape them before printing. The message may be invalid
 * in any way. `answered` is the method of the request that a response answers.
 */
function digest(message: object, answered: string | undefined): string {
  return excerpt(words({ ...message }, answered), longest);
}

function words(message: JsonObject, answered: string | undefined): string {
  const { method, error, result } = message;
  if ("method" in message) {
    const params = isObject(message.params) ? message.params : {};
    return "id" in message ? requestWords(text(method), params) : (notified.get(text(method))?.(params) ?? "");
  }
  if ("error" in message) return isObject(error) ? errorWords(error) : text(error);
  if (!isObject(result)) return "";
  if (result.resultType === "input_required") return inputWords(result.inputRequests);
  return answered === undefined ? JSON.stringify(result) : (results.get(answered)?.(result) ?? "");
}

function inputWords(inputRequests: unknown): string {
  const requested = isObject(inputRequests) ? Object.values(inputRequests) : [];
  const named = requested.slice(0, 16).map((each) => text(member(each, "method") ?? "?"));
  return `requests ${named.length === 0 ? "no input" : named.join(", ")}`;
}

/** Many servers give the reason only in `data`. */
function errorWords({ code, message, data }: JsonObject): string {
  const reason = member(data, "reason");
  const words = `${text(code)} ${text(message)}`;
  return typeof reason === "string" && !words.includes(reason) ? `${words}: ${reason}` : words;
}

function requestWords(method: string, params: JsonObject): string {
  const version = member(params._meta, metaKeys.protocolVersion);
  return join([requests.get(method)?.(params), version === undefined ? undefined : `in ${text(version)}`]);
}

const requests: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  [methods.initialize, ({ protocolVersion }) => `asks for ${text(protocolVersion)}`],
  [methods.callTool, ({ name, arguments: args }) => join([text(name), isEmpty(args) ? undefined : json(args)])],
  [methods.readResource, ({ uri }) => text(uri)],
  [methods.getPrompt, ({ name, arguments: args }) => join([text(name), isEmpty(args) ? undefined : json(args)])],
  [methods.setLevel, ({ level }) => text(level)],
]);

const results: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  [methods.initialize, (result) => `${peerName(result.serverInfo)} speaks ${text(result.protocolVersion)}`],
  [
    methods.discover,
    (result) => {
      const name = peerName(member(result._meta, metaKeys.serverInfo));
      const { supportedVersions } = result;
      return `${name} speaks ${Array.isArray(supportedVersions) ? supportedVersions.slice(0, 16).map(text).join(", ") : "?"}`;
    },
  ],
  [methods.listTools, (result) => listWords(result.tools, "tool", result)],
  [methods.listResources, (result) => listWords(result.resources, "resource", result)],
  [methods.listResourceTemplates, (result) => listWords(result.resourceTemplates, "template", result)],
  [methods.listPrompts, (result) => listWords(result.prompts, "prompt", result)],
  [
    methods.callTool,
    (result) => join([result.isError === true ? "isError:" : undefined, contentWords(result.content)]),
  ],
  [methods.elicit, ({ action, content }) => join([text(action), isEmpty(content) ? undefined : json(content)])],
]);

const notified: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  [notifications.progress, (params) => progressWords(params)],
  [notifications.message, ({ level, data }) => `${text(level)}: ${text(data)}`],
  [notifications.cancelled, ({ requestId, reason }) => join([`request ${text(requestId)}`, text(reason ?? "")])],
  [notifications.resourceUpdated, ({ uri }) => text(uri)],
]);

/** `1/3 searching`. */
export function progressWords({ progress, total, message }: JsonObject): string {
  return join([`${text(progress)}${total === undefined ? "" : `/${text(total)}`}`, text(message ?? "")]);
}

function listWords(items: unknown, thing: string, { nextCursor }: JsonObject): string {
  if (!Array.isArray(items)) return `no list of ${thing}s`;
  const counted = `${items.length} ${thing}${items.length === 1 ? "" : "s"}`;
  return typeof nextCursor !== "string" ? counted : `${counted}, and more`;
}

function contentWords(content: unknown): string {
  const blocks = Array.isArray(content) ? content.filter(isObject) : [];
  const [first] = blocks;
  if (first === undefined) return "no content";
  const more = blocks.length === 1 ? undefined : `(+${blocks.length - 1})`;
  return join([first.type === "text" ? firstLine(text(first.text)) : text(first.type), more]);
}

function firstLine(value: string): string {
  const [line = "", ...more] = value.trim().split("\n");
  return more.length === 0 ? line : `${line.trim()} …`;
}

function peerName(info: unknown): string {
  return join([text(member(info, "name") ?? "a server without a name"), text(member(info, "version") ?? "")]);
}

function member(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

function isEmpty(value: unknown): boolean {
  return value === undefined || (isObject(value) && Object.keys(value).length === 0);
}

/** A string unchanged, any other value as JSON. */
function text(value: unknown): string {
  return typeof value === "string" ? excerpt(value, longest) : json(value);
}

function json(value: unknown): string {
  return excerpt(JSON.stringify(value) ?? "", longest);
}

function join(parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== "").join(" ");
}
