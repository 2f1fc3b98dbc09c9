import { createParser } from "eventsource-parser";
import { decode } from "../../jsonrpc/codec/decode.js";
import { RpcError } from "../../jsonrpc/errors.js";
import { clientLimits } from "../../jsonrpc/limits.js";
import { mcpProfile } from "../../jsonrpc/profile.js";
import { excerpt } from "../../jsonrpc/report.js";
import { eventStream, json } from "../media-types.js";
import { readBody } from "./body.js";
import { type EventStreamReading, invalid, readEvents } from "./event-reader.js";
import { HttpError } from "./http-target.js";

/** How to read the response to one request. */
export interface ResponseReading extends Omit<EventStreamReading, "ready" | "onRetry"> {
  /** Whether to ignore a wrong media type or encoding and judge the body by its content. */
  readonly lenient?: boolean;
}

/** The number of bytes of an error response that are read. */
const refusalBytes = 64 * 1024;

/**
 * Passes each message of a response to `take`: one from a JSON body, any number from an event stream.
 * @throws LocalError `protocol` if the response is neither; the platform's error if it breaks off
 */
export async function readResponse(
  response: Response,
  reading: ResponseReading,
  take: (text: string) => void,
): Promise<void> {
  const type = mediaTypeOf(response);
  if (type === eventStream) {
    await readEvents(response, reading, ({ data, event = "message" }) => {
      if ((event === "message" || reading.lenient === true) && data !== "") take(data);
    });
  } else if (type === json) {
    take(await readJson(response, reading));
  } else {
    const text = reading.lenient === true ? await readJson(response, reading) : undefined;
    if (text !== undefined && takeByLooks(text, take)) return;
    const found = type === "" ? "no Content-Type" : `Content-Type ${excerpt(type)}`;
    const said = text === undefined ? await excerptOf(response, reading) : inExcerpt(text);
    throw invalid(reading.what, `a response with status ${response.status} and ${found}: ${said}`);
  }
}

/** Reads a body with a wrong media type that looks like events or like a message. */
function takeByLooks(text: string, take: (text: string) => void): boolean {
  const isEvents = /^\s*(?:data|event|id|retry|):/.test(text);
  if (isEvents) createParser({ onEvent: ({ data }) => take(data) }).feed(`${text}\n\n`);
  else if (/^\s*[{[]/.test(text)) take(text);
  else return false;
  return true;
}

/** An error response to a request. */
export interface Refused {
  readonly error: HttpError;
  /** The server's JSON-RPC error, if it belongs to one of `requests` or has no id. */
  readonly said: RpcError | undefined;
  /** The body, possibly truncated. */
  readonly text: string;
}

/**
 * Reads an error response.
 * @param requests the ids of the requests, as JSON literals
 */
export async function readRefusal(
  response: Response,
  { what, signal }: Pick<ResponseReading, "what" | "signal">,
  requests: readonly string[] = [],
): Promise<Refused> {
  const { status } = response;
  const { bytes, isWhole } = await readBody(response, refusalBytes, signal);
  const text = new TextDecoder().decode(bytes);
  const error = new HttpError(status, `${what}: ${inWords(response)}${bodyInWords(response, text)}`);
  // 401 comes from an authorization layer, which knows nothing of the protocol; so does 403, unless it answers the request by its id.
  const mayBeSaid = status !== 401 && isWhole && mediaTypeOf(response) === json;
  return { error, said: mayBeSaid ? saidIn(text, requests, error) : undefined, text };
}

/** An error without an id reports an unreadable request, so it belongs to this POST. */
function saidIn(text: string, requests: readonly string[], cause: HttpError): RpcError | undefined {
  const message = decode(text, mcpProfile, clientLimits);
  if (!("error" in message)) return undefined;
  const { id = null, error } = message;
  if (id === null && cause.status === 403) return undefined;
  if (id !== null && !requests.includes(JSON.stringify(id))) return undefined;
  return new RpcError(error.code, error.message, error.data, { cause });
}

function inWords({ status, headers }: Response): string {
  const challenge = headers.get("www-authenticate");
  const why = challenge === null ? "" : ` (${excerpt(challenge)})`;
  if (status === 401) return `401, the server requires authentication${why}`;
  if (status === 403) return `403, the server denied access${why}`;
  return `the server responded with status ${status}`;
}

/** Statuses with which body parsers of web frameworks refuse a request, each with a page of HTML. */
const ofParsers: ReadonlyMap<number, string> = new Map([
  [400, "it did not read the request as JSON"],
  [413, "its limit is smaller than that of the MCP handler"],
  [415, "it does not read this type or charset"],
]);

/** Longer pages have their reason at the beginning too. */
const longestPage = 4_096;

function bodyInWords(response: Response, text: string): string {
  if (text === "") return "";
  if (mediaTypeOf(response) === json) {
    const message = decode(text, mcpProfile, clientLimits);
    if ("error" in message) return `: ${excerpt(message.error.message)}`;
  }
  const why = mediaTypeOf(response) === "text/html" ? ofParsers.get(response.status) : undefined;
  if (why === undefined) return `: ${excerpt(text)}`;
  const page = text
    .slice(0, longestPage)
    .replaceAll(/<[^<>]*>|&nbsp;/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
  return `, with a page of HTML, as a body parser or proxy before the MCP handler sends it (${why}): ${excerpt(page)}`;
}

async function readJson(response: Response, reading: ResponseReading): Promise<string> {
  const { bytes, isWhole } = await readBody(response, reading.maxBytes, reading.signal);
  if (!isWhole) throw invalid(reading.what, `a response of more than ${reading.maxBytes} bytes`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    if (reading.lenient === true) return new TextDecoder("windows-1252").decode(bytes);
    throw invalid(reading.what, "a response that is not UTF-8", error);
  }
}

async function excerptOf(response: Response, { signal }: ResponseReading): Promise<string> {
  const { bytes } = await readBody(response, refusalBytes, signal);
  return inExcerpt(new TextDecoder().decode(bytes));
}

function inExcerpt(text: string): string {
  return text === "" ? "it is empty" : excerpt(text);
}

/** Whether a response is an event stream. */
export function isEventStream(response: Response): boolean {
  return mediaTypeOf(response) === eventStream;
}

function mediaTypeOf({ headers }: Response): string {
  const [type = ""] = (headers.get("content-type") ?? "").split(";");
  return type.trim().toLowerCase();
}
