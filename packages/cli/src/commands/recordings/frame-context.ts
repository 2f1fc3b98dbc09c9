import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { isObject, type JsonObject } from "@parlance/mcp/protocol";
import { Conversation, RecordingDecoder } from "@parlance/wire";

// One frame of a long recording is judged by what came before it. Which lines that are is found by searching the text of the file:
// to read and judge all of them takes ten times as long. What cannot be told from the text alone is left to a reading of all lines.

/** Lines before a frame, and at the beginning of a session, on which its verdicts may depend. */
const near = 64;
/** Responses from which the rules compute the usual latency of a method. */
const mostAnswers = 200;
/** Lines that are searched for them. */
const mostRead = 4_000;
/** Characters after a request in which its response is searched. */
const answerWithin = 1 << 20;
/** The members that hold the id of a request. */
const idNames = "id|requestId|io\\.modelcontextprotocol/subscriptionId";
/** Parts of the methods that open a conversation or list tools, each with a rare character: a search for one character is faster. */
const openingWords = [
  ["initialize", "z"],
  ["/discover", "/"],
  ["tools/list", "/"],
] as const;
/** More characters are in no text. */
const longestText = 0x1fff_ff00;
/** More lines than that are not fewer than all. */
const mostLines = 8_000;

/** The features by which related lines are found. */
interface Seen {
  readonly at: number;
  readonly session: string;
  readonly direction: string;
  readonly message: JsonObject | undefined;
}

/** Thrown inside this file alone: the context of a frame cannot be told from the text. */
class Unclear extends Error {}

/**
 * The lines of a recording by which the frame with a number is judged and paired, in order, with the header and the frame itself.
 * Undefined where that would take a reading of all lines: a request that was never answered, a batch, HTTP, a log message.
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

  /** Lines that are no frame, and frames whose text is not there or not whole: they say what was not seen. */
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

  /** The first lines of the session. */
  #takeBeginning(): void {
    const { session } = this.#target;
    const first = this.#text.indexOf(`,"s":${JSON.stringify(session)},`);
    let at = this.#startOf(first);
    for (let count = 0; count < near && at < this.#text.length; count += 1) {
      this.#take(at);
      at = this.#endOf(at) + 1;
    }
  }

  /** The lines before one: until both sides have spoken, and the last texts of each that are whole messages. */
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

  /** How the conversation was opened, and the tools that were listed before. */
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

  /** The request or response of the message. */
  #takeOwn(message: JsonObject): void {
    const { id, method, params, result } = message;
    const about = isObject(params) ? params : {};
    const meta = isObject(about._meta) ? about._meta : {};
    if (isUnclear(method, about, isObject(result) ? result : {}, "result" in message)) throw new Unclear();
    const ids = [id, about.requestId, meta["io.modelcontextprotocol/subscriptionId"]];
    for (const each of ids) if (isKey(each)) this.#takeNamed(idNames, each);
    for (const token of [about.progressToken, meta.progressToken])
      if (isKey(token)) for (const line of this.#takeNamed("progressToken", token)) this.#takeFamily(line);
    if (isKey(id) && typeof method === "string") this.#requireAnswer(id);
    if (isKey(id) && method === undefined) this.#takeUsual(id);
  }

  /** All lines with the id of a request, and what came before it: the state in which it was sent. */
  #takeFamily(line: number): void {
    const id = this.#seen(line)?.message?.id;
    if (isKey(id)) this.#takeNamed(idNames, id);
  }

  /** Every line in which a member has a value, with the lines around it. */
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

  /** A request without a response is explained by everything after it. */
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
    const behind = this.#endOf(line);
    const within = this.#text.slice(behind, behind + answerWithin);
    const at = within.search(
      new RegExp(
        `\\\\"id\\\\"[ \\t]*:[ \\t]*${JSON.stringify(JSON.stringify(id)).slice(1, -1).replaceAll("\\", "\\\\")}(?![\\d.])`,
      ),
    );
    if (at < 0) throw new Unclear();
    this.#take(this.#startOf(behind + at));
  }

  /** The last responses to requests of the same method: they give the usual latency. */
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
        // Where the method is rare, its requests are few: if there is none before, there is nothing more to read.
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
    const entry = parsed(text);
    if (!isObject(entry) || entry.k !== "f" || typeof entry.s !== "string" || typeof entry.d !== "string")
      return undefined;
    const message = typeof entry.raw === "string" ? parsed(entry.raw) : undefined;
    // A batch has several messages, and a truncated frame none.
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

/** Whether a message depends on more than its request, its answer and how the conversation was opened. */
function isUnclear(method: unknown, params: JsonObject, result: JsonObject, isResult: boolean): boolean {
  const ofRounds = ["requestState", "inputResponses", "cursor"].some((name) => name in params);
  const opensRound = isResult && ("requestState" in result || result.resultType === "input_required");
  if (ofRounds || opensRound) return true;
  if (typeof method !== "string" || !method.startsWith("notifications/")) return false;
  return !/^notifications\/(?:progress|cancelled|initialized|\w+\/list_changed)$/.test(method);
}

/** An id or a token. @throws Unclear for one that may be written in several ways */
function isKey(value: unknown): value is string | number {
  if (typeof value === "string" && !/^[\w.:/=+-]*$/.test(value)) throw new Unclear();
  if (typeof value === "number" && !Number.isSafeInteger(value)) throw new Unclear();
  return typeof value === "string" || typeof value === "number";
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // No JSON.
  }
}

/**
 * As much of a recording as one frame of it needs to be judged and paired. Undefined where all of it must be read, and for what
 * cannot be read like that.
 */
export async function loadFrame(path: string, n: number): Promise<Conversation | undefined> {
  const file = path === "-" ? undefined : await contentOf(path).catch(() => undefined); // Another reading tells why.
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
