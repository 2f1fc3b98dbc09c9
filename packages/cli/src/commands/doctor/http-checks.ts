import { latestHandshake } from "@parlance/mcp";
import { baseProfile, clientLimits, codes, decode, Problem } from "@parlance/mcp/jsonrpc";
import { mcpHeaders, messagesOf, methods } from "@parlance/mcp/protocol";
import { innermost, remedyForWords, statusRemedy } from "../../shared/client/url-failure.js";
import { exitCodes } from "../../shared/exit-codes.js";
import { isObject } from "../../shared/json.js";
import type { Header } from "../../shared/target/target.js";
import type { Check, Finding } from "./check.js";

/** Where, with what and for how long an endpoint is asked. */
export interface Endpoint {
  readonly url: URL;
  readonly headers: readonly Header[];
  /** Milliseconds. */
  readonly timeout: number;
}

/** What an endpoint answered, as far as it is worth reading. */
interface Answer {
  readonly status: number;
  readonly statusText: string;
  readonly type: string;
  readonly headers: Headers;
  readonly text: string;
}

/** Whether HTTP is spoken, and whether it is MCP that it carries. */
export function httpChecks(endpoint: Endpoint): readonly Check[] {
  let answer: Answer | undefined;
  return [
    {
      name: "HTTP answers",
      isEssential: true,
      async run() {
        try {
          answer = await ask(endpoint);
          const { status, statusText, type } = answer;
          return { state: "ok", says: [`POST: ${status}`, statusText, type].filter((word) => word !== "").join(" ") };
        } catch (error) {
          return unanswered(error, endpoint);
        }
      },
    },
    {
      name: "is MCP",
      isEssential: true,
      // Nobody comes here without an answer.
      run: async () => (answer === undefined ? { state: "absent", says: "" } : judge(answer, endpoint)),
    },
  ];
}

function unanswered(error: unknown, { timeout }: Endpoint): Finding {
  if (error instanceof Error && error.name === "TimeoutError") {
    const remedy = "the server has taken the request and does not answer: look in its log; --timeout 2m waits longer";
    return { state: "failed", says: `no answer for ${timeout} ms`, remedy, exitCode: exitCodes.timeout };
  }
  const words = reasonOf(error);
  const remedy = remedyForWords(words);
  return { state: "failed", says: words, exitCode: exitCodes.unreachable, ...(remedy !== undefined && { remedy }) };
}

const longest = 64 * 1024;

/** Offers a handshake: every server of HTTP has something to say to it. A session that it opens is ended. */
async function ask({ url, headers, timeout }: Endpoint): Promise<Answer> {
  const { version } = latestHandshake;
  const clientInfo = { name: "parlance doctor", version: "0.1.0" };
  const request = messagesOf(version).request(1, methods.initialize, {
    protocolVersion: version,
    capabilities: {},
    clientInfo,
  });
  const response = await fetch(url, {
    method: "POST",
    redirect: "manual",
    headers: headersOf(headers, { accept: "application/json, text/event-stream", "content-type": "application/json" }),
    body: JSON.stringify(request),
    signal: AbortSignal.timeout(timeout),
  });
  const answer = await answerOf(response);
  const session = response.headers.get(mcpHeaders.session);
  if (session !== null) await endSession({ url, headers, timeout }, session);
  return answer;
}

/** What a request has to have, and what the person has given besides. */
function headersOf(given: readonly Header[], needed: Readonly<Record<string, string>>): Headers {
  const headers = new Headers(needed);
  for (const [name, value] of given) headers.set(name, value);
  return headers;
}

async function answerOf(response: Response): Promise<Answer> {
  const { status, statusText, headers } = response;
  const [type = ""] = (headers.get("content-type") ?? "").split(";");
  return { status, statusText, type: type.trim().toLowerCase(), headers, text: await beginning(response) };
}

/** Of a stream the first event, of a body its beginning. */
async function beginning({ body }: Response): Promise<string> {
  if (body === null) return "";
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > longest || /\r?\n\r?\n/.test(text)) break;
  }
  return text;
}

/** A server that does not want to hear of it forgets the session by itself. */
async function endSession({ url, headers, timeout }: Endpoint, session: string): Promise<void> {
  const signal = AbortSignal.timeout(timeout);
  const all = headersOf(headers, { [mcpHeaders.session]: session });
  await fetch(url, { method: "DELETE", headers: all, signal }).catch(() => undefined);
}

async function judge(answer: Answer, endpoint: Endpoint): Promise<Finding> {
  const { status, type, text } = answer;
  if (status === 401) return { ...refused(answer), seen: await authorization(answer, endpoint) };
  if (isMcp(answer))
    return { state: "ok", says: status === 200 ? `a message in ${type}` : `a message, with status ${status}` };
  if (status >= 300 && status < 400) {
    const to = answer.headers.get("location") ?? "nowhere";
    return failed(
      `it leads to ${to}`,
      `parlance doctor ${URL.canParse(to, endpoint.url) ? new URL(to, endpoint.url).href : to}`,
    );
  }
  if (status === 404 || status === 405) return elsewhere(answer, endpoint);
  if (status >= 400) return refused(answer);
  const found = type === "" ? "no Content-Type" : type;
  const seen = text === "" ? [] : [text.slice(0, 200)];
  return { ...failed(`an answer with ${found}, where MCP has application/json or text/event-stream`, notMcp), seen };
}

const notMcp = "this is no MCP endpoint: its path is often /mcp, or /sse where it is old";

/** Many programs say in JSON-RPC that there is nothing at a path; only MCP says that it has no such method there. */
function isMcp({ status, type, text }: Answer): boolean {
  if (type === "text/event-stream") return status === 200;
  if (type !== "application/json" || status === 405) return false;
  const message = decode(text, baseProfile, clientLimits);
  if (Array.isArray(message) || message instanceof Problem) return false;
  return status !== 404 || ("error" in message && message.error.code === codes.methodNotFound);
}

function refused({ status, statusText, text }: Answer): Finding {
  const seen = text.trim() === "" ? [] : [text.trim().slice(0, 200)];
  return { ...failed(`status ${status} ${statusText}`.trim(), statusRemedy(status) ?? notMcp), seen };
}

function failed(says: string, remedy: string): Finding {
  return { state: "failed", says, remedy, exitCode: exitCodes.unreachable };
}

/** What the server says of how one is let in. */
async function authorization({ headers }: Answer, endpoint: Endpoint): Promise<readonly string[]> {
  const challenge = headers.get("www-authenticate");
  if (challenge === null) return ["it does not say how: the header WWW-Authenticate is missing"];
  const address = /resource_metadata="([^"]+)"/.exec(challenge)?.[1];
  if (address === undefined || !URL.canParse(address, endpoint.url)) return [`WWW-Authenticate: ${challenge}`];
  return [`WWW-Authenticate: ${challenge}`, await metadata(new URL(address, endpoint.url), endpoint)];
}

async function metadata(url: URL, { timeout }: Endpoint): Promise<string> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(timeout) });
    const value: unknown = JSON.parse(await beginning(response));
    const servers = isObject(value) ? value.authorization_servers : undefined;
    if (response.ok && Array.isArray(servers)) return `tokens come from ${servers.join(", ")}`;
    return `${url.href}: ${response.status}, and no authorization_servers`;
  } catch (error) {
    return `${url.href} cannot be read: ${reasonOf(error)}`;
  }
}

/** Where an endpoint may be when it is not where somebody looks. */
const usualPaths: readonly string[] = ["/mcp", "/sse", "/"];

async function elsewhere(answer: Answer, endpoint: Endpoint): Promise<Finding> {
  if (await isOldStream(endpoint)) return { state: "ok", says: "HTTP+SSE, the carrier of the first revision" };
  for (const path of usualPaths) {
    const url = new URL(path, endpoint.url);
    if (url.pathname === endpoint.url.pathname) continue;
    const there = { ...endpoint, url };
    const isThere = await ask(there).then(
      (each) => each.status !== 404 && isMcp(each),
      () => false,
    );
    if (isThere || (await isOldStream(there)))
      return { ...refused(answer), remedy: `MCP is spoken at another path: parlance doctor ${url.href}` };
  }
  return refused(answer);
}

/** Whether a GET opens a stream whose first event says where to post. */
async function isOldStream({ url, headers, timeout }: Endpoint): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(timeout);
    const response = await fetch(url, { headers: headersOf(headers, { accept: "text/event-stream" }), signal });
    const { status, type, text } = await answerOf(response);
    return status === 200 && type === "text/event-stream" && /^event: ?endpoint\b/m.test(text);
  } catch {
    return false; // It is only asked whether it is.
  }
}

function reasonOf(error: unknown): string {
  const inner = innermost(error);
  return inner instanceof Error ? inner.message : String(inner);
}
