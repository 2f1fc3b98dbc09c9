import { createParser } from "eventsource-parser";
import type { Clock } from "../../base/clock.js";
import { decode } from "../../jsonrpc/codec.js";
import { LocalError, RpcError } from "../../jsonrpc/errors.js";
import { clientLimits } from "../../jsonrpc/limits.js";
import { mcpProfile } from "../../jsonrpc/profile.js";
import { excerpt } from "../../jsonrpc/report.js";
import { eventStream, json } from "../media-types.js";
import { readBody } from "./body.js";
import { readEvents } from "./event-reader.js";
import { HttpError } from "./http-error.js";

/** How the answer to one request is read. */
export interface AnswerTerms {
  /** What was asked, for messages. */
  readonly what: string;
  /** Bytes of one message. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** Whether an answer is taken for what it looks like, whatever its headers and its encoding say. */
  readonly lenient?: boolean;
  readonly clock?: Clock;
}

/** Bytes of a refusal that are looked at. */
const refusalBytes = 64 * 1024;

/**
 * Hands over the texts of the messages in an answer: one of a JSON body, any number of an event stream.
 * @throws LocalError `protocol` for what is neither; what the platform throws for one that breaks off
 */
export async function readAnswer(response: Response, terms: AnswerTerms, take: (text: string) => void): Promise<void> {
  const type = mediaTypeOf(response);
  if (type === eventStream) {
    await readEvents(response, terms, ({ data, event = "message" }) => {
      if ((event === "message" || terms.lenient === true) && data !== "") take(data);
    });
  } else if (type === json) {
    take(await readJson(response, terms));
  } else {
    const text = terms.lenient === true ? await readJson(response, terms) : undefined;
    if (text !== undefined && takeByLooks(text, take)) return;
    const found = type === "" ? "no Content-Type" : `Content-Type ${excerpt(type)}`;
    const said = text === undefined ? await excerptOf(response, terms) : inExcerpt(text);
    throw invalid(terms, `an answer with status ${response.status} and ${found}: ${said}`);
  }
}

/** Takes a body of another media type that looks like events, or like a message. */
function takeByLooks(text: string, take: (text: string) => void): boolean {
  const isEvents = /^\s*(?:data|event|id|retry|):/.test(text);
  if (isEvents) createParser({ onEvent: ({ data }) => take(data) }).feed(`${text}\n\n`);
  else if (/^\s*[{[]/.test(text)) take(text);
  else return false;
  return true;
}

/** How a request was refused. */
export interface Refused {
  readonly error: HttpError;
  /** What the server has said in the words of the protocol; no more than that it is about one of `requests`, or about none. */
  readonly said: RpcError | undefined;
  /** The body, as far as it was read. */
  readonly text: string;
}

/** Reads why a request was refused. @param requests the ids of those that were asked, as literals */
export async function readRefusal(
  response: Response,
  terms: AnswerTerms,
  requests: readonly string[] = [],
): Promise<Refused> {
  const { status } = response;
  const { bytes, isWhole } = await readBody(response, refusalBytes, terms.signal);
  const text = new TextDecoder().decode(bytes);
  const body = text === "" ? "" : `: ${excerpt(text)}`;
  const error = new HttpError(status, `${terms.what}: ${inWords(response)}${body}`);
  // Who is not let in has reached nobody who speaks the protocol.
  const mayBeSaid = status !== 401 && status !== 403 && isWhole && mediaTypeOf(response) === json;
  return { error, said: mayBeSaid ? saidIn(text, requests, error) : undefined, text };
}

/** An error without an id says that the request could not be read: there is only one that it can mean. */
function saidIn(text: string, requests: readonly string[], cause: HttpError): RpcError | undefined {
  const message = decode(text, mcpProfile, clientLimits);
  if (!("error" in message)) return undefined;
  const { id = null, error } = message;
  if (id !== null && !requests.includes(JSON.stringify(id))) return undefined;
  return new RpcError(error.code, error.message, error.data, { cause });
}

function inWords({ status, headers }: Response): string {
  const wants = headers.get("www-authenticate");
  if (status === 401) return `401, the server wants to know who calls${wants === null ? "" : ` (${excerpt(wants)})`}`;
  if (status === 403) return "403, the server does not let this client in";
  return `the server answered with status ${status}`;
}

async function readJson(response: Response, terms: AnswerTerms): Promise<string> {
  const { bytes, isWhole } = await readBody(response, terms.maxBytes, terms.signal);
  if (!isWhole) throw invalid(terms, `an answer of more than ${terms.maxBytes} bytes`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    if (terms.lenient === true) return new TextDecoder("windows-1252").decode(bytes);
    throw invalid(terms, "an answer that is not UTF-8", error);
  }
}

async function excerptOf(response: Response, { signal }: AnswerTerms): Promise<string> {
  const { bytes } = await readBody(response, refusalBytes, signal);
  return inExcerpt(new TextDecoder().decode(bytes));
}

function inExcerpt(text: string): string {
  return text === "" ? "it is empty" : excerpt(text);
}

/** Whether an answer is an event stream. */
export function isEventStream(response: Response): boolean {
  return mediaTypeOf(response) === eventStream;
}

function mediaTypeOf({ headers }: Response): string {
  const [type = ""] = (headers.get("content-type") ?? "").split(";");
  return type.trim().toLowerCase();
}

function invalid({ what }: AnswerTerms, found: string, cause?: unknown): LocalError {
  return new LocalError("protocol", `${what}: received ${found}`, cause === undefined ? {} : { cause });
}
