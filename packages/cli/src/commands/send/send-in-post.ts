import { mcpHeaders } from "@parlance/mcp/protocol";
import { innermost, toFailureAtUrl } from "../../shared/client/url-failure.js";
import { bodyReader } from "../../shared/client/watched-fetch.js";
import { exitCodes } from "../../shared/exit-codes.js";
import { Failure } from "../../shared/failure.js";
import type { Header } from "../../shared/target/target.js";
import { TextLines } from "../../shared/text-lines.js";
import { handshakeIn } from "./exchange.js";
import { sentFrames } from "./raw-line.js";
import type { SendOptions } from "./send-options.js";
import { Silence } from "./until-quiet.js";

/** Where the bytes go, and with what. */
export interface PostTarget {
  readonly url: URL;
  readonly headers: readonly Header[];
}

/** Sends bytes as the body of one POST, and shows the response as it comes. @throws Failure for a server that cannot be reached */
export async function sendInPost({ url, headers }: PostTarget, bytes: Uint8Array, options: SendOptions): Promise<void> {
  const session = options.opening === undefined ? [] : await openSession({ url, headers }, options.opening, options);
  await post({ url, headers: [...session, ...headers] }, bytes, options);
  const id = session.find(([name]) => name === mcpHeaders.session);
  if (id === undefined) return;
  const signal = AbortSignal.timeout(options.timeout);
  // A server that does not want to hear of the end forgets the session by itself.
  await fetch(url, { method: "DELETE", headers: headersOf([...session, ...headers]), signal }).catch(() => undefined);
}

/** What every request of the session carries. */
async function openSession(target: PostTarget, version: string, options: SendOptions): Promise<readonly Header[]> {
  const [request, initialized] = handshakeIn(version) ?? [];
  if (request === undefined || initialized === undefined) return [];
  const response = await post(target, Buffer.from(JSON.stringify(request)), options);
  const id = response.headers.get(mcpHeaders.session);
  const session: Header[] = [[mcpHeaders.protocolVersion, version]];
  if (id !== null) session.push([mcpHeaders.session, id]);
  await post({ ...target, headers: [...session, ...target.headers] }, Buffer.from(initialized), options);
  return session;
}

async function post({ url, headers }: PostTarget, bytes: Uint8Array, options: SendOptions): Promise<Response> {
  const { traffic, view } = options;
  traffic.bytes("client", bytes);
  for (const frame of sentFrames(bytes).frames) traffic.see(frame);
  const response = await answered(
    url,
    { method: "POST", body: new Uint8Array(bytes), headers: headersOf(headers) },
    options,
  );
  const { status, statusText } = response;
  view.head({ status, statusText, headers: [...response.headers] }, traffic.now);
  await readBody(response, url, options);
  return response;
}

/** The response, as soon as it begins. @throws Failure */
async function answered(url: URL, init: RequestInit, { timeout, stop }: SendOptions): Promise<Response> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), timeout);
  try {
    return await fetch(url, { ...init, redirect: "manual", signal: AbortSignal.any([late.signal, stop]) });
  } catch (error) {
    if (!late.signal.aborted) throw toFailureAtUrl(innermost(error), "opening");
    const remedy = "the server has taken the request and does not answer: look in its log; --timeout 2m waits longer";
    throw new Failure(`no answer for ${timeout} ms`, { exitCode: exitCodes.timeout, remedy, cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/** Reads until the body ends or breaks, or nobody wants to listen any more. */
async function readBody(
  response: Response,
  url: URL,
  { traffic, view, wait, timeout, stop }: SendOptions,
): Promise<void> {
  const { body } = response;
  if (body === null) {
    traffic.settle();
    return;
  }
  const what = `POST ${url.pathname}`;
  const reader = bodyReader(
    response,
    { what, line: `${what}: ${response.status}` },
    { see: (tapped) => traffic.see(tapped), tell: () => undefined },
  );
  const source = body.getReader();
  const silence = new Silence();
  const lines = new TextLines((line) => view.body(line, traffic.now));
  const read = async (): Promise<"whole" | "broken"> => {
    try {
      for (let { done, value } = await source.read(); !done; { done, value } = await source.read()) {
        if (value === undefined) continue;
        silence.disturb();
        traffic.bytes("server", value);
        lines.push(value);
        reader.push(value);
      }
      return "whole";
    } catch {
      return "broken"; // Shown as far as it came.
    }
  };
  const quiet = silence.until({ wait, timeout, isOwed: true, stop }).then(() => "quiet" as const);
  const how = await Promise.race([read(), quiet]);
  silence.end();
  lines.end();
  reader.end(how === "whole");
  if (how === "quiet") await source.cancel();
  else traffic.settle();
}

/** What a client sends, and in its place what the person has given. */
function headersOf(given: readonly Header[]): Headers {
  const headers = new Headers({ accept: "application/json, text/event-stream", "content-type": "application/json" });
  for (const [name, value] of given) headers.set(name, value);
  return headers;
}
