import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { isObject, type JsonObject } from "@parlance/mcp/protocol";
import { Conversation, RecordingDecoder } from "@parlance/wire";
import { parsedJson } from "../../shared/parsed-json.js";

// To judge one frame of a long recording, earlier lines are needed. They are found by searching the text of the file, because
// reading and judging all lines takes ten times as long. If the text alone is not enough, all lines are read.

/** The number of lines before a frame, and at the beginning of a session, on which its verdicts may depend. */
const near = 64;
/** The number of responses from which the usual latency of a method is computed. */
const mostAnswers = 200;
/** The maximum number of lines that are searched for these responses. */
const mostRead = 4_000;
/** The number of characters after a request that are searched for its response. */
const answerWithin = 1 << 20;
/** The members that hold the id of a request. */
const idNames = "id|requestId|io\\.modelcontextprotocol/subscriptionId";
/**
 * Parts of the methods that open a conversation, list something or notify of changed lists, each with a rare character: a search for one
 * character is faster.
 */
const openingWords = [
  ["initialize", "z"],
  ["/discover", "/"],
  ["tools/list", "/"],
  ["resources/list", "/"],
  ["prompts/list", "/"],
] as const;
/** The maximum length of a string. */
const longestText = 0x1fff_ff00;
/** The maximum number of selected lines; with more, reading all lines is not slower. */
const mostLines = 8_000;

/** The features of a line by which related lines are found. */
interface Seen {
  readonly at: number;
  readonly session: string;
  readonly direction: string;
  readonly message: JsonObject | undefined;
}

/** Thrown only within this file, if the text is not enough to find the context of a frame. */
class Unclear extends Error {}

/**
 * The lines of a recording that are needed to judge and pair a frame, in order, with the header and the frame itself. Undefined
 * if all lines must be read: for an unanswered request, a batch, HTTP, or a log message.
 */
export function contextOfFrame(file: Buffer, n: number): Buffer | undefined {
  if (file.length > longestText) return undefined;
  try {
    return new FrameContext(file.toString("latin1"), n).lines();
  } catch (error) {
    if (error instanceof Unclear) return undefined;
    throw error;
  }
}

class FrameContext {
  /** The file as Latin-1: one character per byte. */
  readonly #text: string;
  readonly #target: Seen;
  /** Offsets of the selected lines. */
  readonly #taken = new Set<number>();

  constructor(text: string, n: number) {
    this.#text = text;
    const at = text.indexOf(`\n{"k":"f","n":${n},`) + 1;
    const target = at === 0 ? undefined : this.#seen(at, true);
    if (target === undefined) throw new Unclear();
    this.#target = target;
  }

  lines(): Buffer {
    const { at, message } = this.#target;
    this.#take(0);
    this.#takeUnusual();
    this.#takeBeginning();
    this.#takeNear(at);
    this.#takeHandshake();
    if (message !== undefined) this.#takeOwn(message);
    if (this.#taken.size > mostLines) throw new Unclear();
    const starts = [...this.#taken].sort((a, b) => a - b);
    return Buffer.from(starts.map((start) => this.#text.slice(start, this.#endOf(start) + 1)).join(""), "latin1");
  }

  /** Takes lines that are not frames, and frames without complete text: they show what is missing. */
  #takeUnusual(): void {
    const text = this.#text;
    for (const { index } of text.matchAll(/\n(?!\{"k":"[fea]")(?=.)/g)) {
      if (!/^\{"k":"(?:gap|l|r|end)"/.test(text.slice(index + 1, index + 16))) throw new Unclear();
      this.#take(index + 1);
    }
    for (const { index } of text.matchAll(/,"nl":"[^"]*",(?!"raw":)/g)) {
      const line = text.lastIndexOf("\n", index) + 1;
      const raw = text.indexOf('"raw":"', index);
      const isPlain =
        raw >= 0 && raw < this.#endOf(line) && !text.startsWith('"kept":', text.indexOf('",', index + 7) + 2);
      if (text.slice(index, raw < 0 ? undefined : raw).includes('"req":')) throw new Unclear();
      if (!isPlain) this.#take(line);
    }
  }

  /** Takes the first lines of the session. */
  #takeBeginning(): void {
    const { session } = this.#target;
    const first = this.#text.indexOf(`,"s":${JSON.stringify(session)},`);
    let at = this.#startOf(first);
    for (let count = 0; count < near && at < this.#text.length; count += 1) {
      this.#take(at);
      at = this.#endOf(at) + 1;
    }
  }

  /** Takes the lines before one, back to a complete message of each side. */
  #takeNear(at: number): void {
    const open = new Set(["c2s", "s2c"]);
    let line = at;
    for (let count = 0; line > 0 && (count < near || open.size > 0); count += 1) {
      if (count > mostRead) throw new Unclear();
      this.#take(line);
      const seen = line === at ? undefined : this.#seen(line);
      if (seen?.session === this.#target.session && seen.message !== undefined) open.delete(seen.direction);
      line = this.#startOf(line - 2);
    }
  }

  /** Takes the handshake, and the lists before the frame with the notifications of their changes. */
  #takeHandshake(): void {
    const text = this.#text;
    for (const [word, rare] of openingWords) {
      const offset = word.indexOf(rare);
      for (let at = text.indexOf(rare); at >= 0 && at < this.#target.at; at = text.indexOf(rare, at + 1)) {
        if (!text.startsWith(word, at - offset)) continue;
        const line = this.#startOf(at);
        this.#take(line);
        this.#takeAnswer(line);
      }
    }
  }

  /** Takes the request or response of the message. */
  #takeOwn(message: JsonObject): void {
    const { id, method, params, result } = message;
    const about = isObject(params) ? params : {};
    const meta = isObject(about._meta) ? about._meta : {};
    if (isUnclear(method, about, isObject(result) ? result : {}, "result" in message)) throw new Unclear();
    // To judge a response without an id, all earlier notifications and open requests are needed, at any distance.
    if (method === undefined && (id === undefined || id === null)) throw new Unclear();
    const ids = [id, about.requestId, meta["io.modelcontextprotocol/subscriptionId"]];
    for (const each of ids) if (isKey(each)) this.#takeNamed(idNames, each);
    for (const token of [about.progressToken, meta.progressToken])
      if (isKey(token)) for (const line of this.#takeNamed("progressToken", token)) this.#takeFamily(line);
    if (isKey(id) && typeof method === "string") this.#requireAnswer(id);
    if (isKey(id) && method === undefined) this.#takeUsual(id);
  }

  /** Takes all lines with the id of a request, and the lines before it, which show the state in which it was sent. */
  #takeFamily(line: number): void {
    const id = this.#seen(line)?.message?.id;
    if (isKey(id)) this.#takeNamed(idNames, id);
  }

  /** Takes every line in which a member has a value, with the lines around it. */
  #takeNamed(names: string, value: string | number): readonly number[] {
    const plain = String(value).replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
    const number = /^-?\d+$/.test(plain) ? `|${plain}(?:\\.0+)?(?![\\d.eE])` : "";
    const found: number[] = [];
    const pattern = new RegExp(`\\\\"(?:${names})\\\\"[ \\t]*:[ \\t]*(?:\\\\"${plain}\\\\"${number})`, "g");
    for (const { index } of this.#text.matchAll(pattern)) {
      const line = this.#startOf(index);
      if (found.at(-1) === line) continue;
      found.push(line);
      if (found.length > near) throw new Unclear();
      if (line < this.#target.at) this.#takeNear(line);
      this.#take(line);
    }
    return found;
  }

  /** Requires that a request has a response: the reason why one is missing may be anywhere after it. */
  #requireAnswer(id: string | number): void {
    const answered = [...this.#taken].some((line) => {
      const { message, session, direction } = (line > this.#target.at && this.#seen(line)) || {};
      return message?.id === id && session === this.#target.session && direction !== this.#target.direction;
    });
    if (!answered) throw new Unclear();
  }

  #takeAnswer(line: number): void {
    const id = this.#seen(line)?.message?.id;
    if (!isKey(id)) return;
    const after = this.#endOf(line);
    const within = this.#text.slice(after, after + answerWithin);
    const at = within.search(
      new RegExp(
        `\\\\"id\\\\"[ \\t]*:[ \\t]*${JSON.stringify(JSON.stringify(id)).slice(1, -1).replaceAll("\\", "\\\\")}(?![\\d.])`,
      ),
    );
    if (at < 0) throw new Unclear();
    this.#take(this.#startOf(after + at));
  }

  /** Takes the last responses to requests of the same method, for the usual latency. */
  #takeUsual(id: string | number): void {
    const isOwn = (seen: Seen | undefined): seen is Seen => seen?.session === this.#target.session;
    const own = [...this.#taken]
      .map((line) => this.#seen(line))
      .find((seen) => isOwn(seen) && seen.message?.id === id && typeof seen.message.method === "string");
    const method = own?.message?.method;
    if (typeof method !== "string") return;
    const waiting = new Map<unknown, number>();
    let [answers, line] = [0, this.#startOf(this.#target.at - 2)];
    for (let read = 0; line > 0 && (answers < mostAnswers || waiting.size > 0); read += 1) {
      if (read > mostRead) {
        // A rare method has few requests: if there is none before, the search ends.
        const before = this.#text.lastIndexOf(`\\"method\\":\\"${method}\\"`, line);
        if (before < 0 && waiting.size === 0) return;
        throw new Unclear();
      }
      const seen = this.#seen(line);
      if (isOwn(seen) && seen.message !== undefined) {
        const { id: each, method: asked } = seen.message;
        if (asked === undefined && each !== undefined && seen.direction === this.#target.direction) {
          if (answers < mostAnswers) waiting.set(each, line);
        } else if (asked !== undefined && seen.direction !== this.#target.direction && waiting.has(each)) {
          if (asked === method) {
            answers += 1;
            this.#take(line);
            this.#take(waiting.get(each) ?? line);
          }
          waiting.delete(each);
        }
      }
      line = this.#startOf(line - 2);
    }
  }

  #take(line: number): void {
    this.#taken.add(line);
  }

  #seen(line: number, isTarget = false): Seen | undefined {
    const text = Buffer.from(this.#text.slice(line, this.#endOf(line)), "latin1").toString();
    const entry = parsedJson(text);
    if (!isObject(entry) || entry.k !== "f" || typeof entry.s !== "string" || typeof entry.d !== "string")
      return undefined;
    const message = typeof entry.raw === "string" ? parsedJson(entry.raw) : undefined;
    // A batch has several messages, and a truncated frame has none.
    if (isTarget && (Array.isArray(message) || entry.raw === undefined || entry.kept !== undefined))
      throw new Unclear();
    return { at: line, session: entry.s, direction: entry.d, message: isObject(message) ? message : undefined };
  }

  #startOf(at: number): number {
    return at <= 0 ? 0 : this.#text.lastIndexOf("\n", at) + 1;
  }

  #endOf(line: number): number {
    const end = this.#text.indexOf("\n", line);
    return end < 0 ? this.#text.length : end;
  }
}

/** Whether the judgement of a message depends on more than its request, its response and the handshake. */
function isUnclear(method: unknown, params: JsonObject, result: JsonObject, isResult: boolean): boolean {
  const ofRounds = ["requestState", "inputResponses", "cursor"].some((name) => name in params);
  const opensRound = isResult && ("requestState" in result || result.resultType === "input_required");
  if (ofRounds || opensRound) return true;
  if (typeof method !== "string" || !method.startsWith("notifications/")) return false;
  return !/^notifications\/(?:progress|cancelled|initialized|\w+\/list_changed)$/.test(method);
}

/** Whether a value is an id or token. @throws Unclear if it may be written in several ways */
function isKey(value: unknown): value is string | number {
  if (typeof value === "string" && !/^[\w.:/=+-]*$/.test(value)) throw new Unclear();
  if (typeof value === "number" && !Number.isSafeInteger(value)) throw new Unclear();
  return typeof value === "string" || typeof value === "number";
}

/**
 * The part of a recording that is needed to judge and pair one frame. Undefined if the whole recording must be read, or if the
 * file is not readable in this way.
 */
export async function loadFrame(path: string, n: number): Promise<Conversation | undefined> {
  const file = path === "-" ? undefined : await contentOf(path).catch(() => undefined); // Reading the whole recording reports the error.
  const lines = file === undefined ? undefined : contextOfFrame(file, n);
  if (lines === undefined) return undefined;
  const conversation = new Conversation();
  const decoder = new RecordingDecoder();
  for (const { entry } of [...decoder.push(lines), ...decoder.end()]) if (entry !== undefined) conversation.push(entry);
  conversation.finish();
  return conversation.rows.some((row) => row.n === n) ? conversation : undefined;
}

async function contentOf(path: string): Promise<Buffer> {
  const bytes = await readFile(path);
  return bytes[0] === 0x1f && bytes[1] === 0x8b ? promisify(gunzip)(bytes) : bytes;
}
