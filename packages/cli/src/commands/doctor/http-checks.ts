import { clientLimits, codes, decode, Problem } from "@parlance/mcp/jsonrpc";
import type { RawReply } from "@parlance/wire";
import { challengeParameter, isOauthChallenge } from "../../shared/client/protected-resource.js";
import { hasAuthorization } from "../../shared/client/sign-in.js";
import { remedyForWords, statusRemedy } from "../../shared/client/url-failure.js";
import { mediaTypeOf } from "../../shared/client/watched-fetch.js";
import { exitCodes } from "../../shared/exit-codes.js";
import { shellWord } from "../../shared/output/shell-word.js";
import { authorizationChecks, badTokenCheck } from "./authorization-checks.js";
import { type Check, type CheckResult, failed } from "./check.js";
import { type Endpoint, excerptOf, exchange, type HttpReply, initialize, reasonOf } from "./exchange.js";

/**
 * Whether HTTP is spoken, and whether it is MCP that it carries.
 * @param isSignedIn whether the token of the endpoint is from a sign-in: then the sign-in is examined too, besides its outcome
 */
export function httpChecks(endpoint: Endpoint, isSignedIn: boolean): readonly Check[] {
  let answer: HttpReply | undefined;
  return [
    {
      name: "HTTP answers",
      isEssential: true,
      async run() {
        const reply = await ask(endpoint);
        answer = reply.http;
        if (answer === undefined) return unanswered(reply, endpoint);
        const { status, statusText } = answer;
        const isRefused = status === 401;
        const isAccepted = hasAuthorization(endpoint.headers) && !isRefused;
        const without = isAccepted ? await askWithoutToken(endpoint) : answer;
        const isOpen = without !== undefined && without.status < 400 && without !== answer;
        return {
          state: "ok",
          ...(without?.status === 401 && {
            next:
              isRefused || isSignedIn ? authorizationChecks(endpoint, without, isRefused) : [badTokenCheck(endpoint)],
          }),
          ...(isOpen && { notes: ["it answers without the token too"] }),
          says: [`POST: ${status}`, statusText, mediaTypeOf(answer)].filter((word) => word !== "").join(" "),
        };
      },
    },
    {
      name: "is MCP",
      isEssential: true,
      // The check before this one fails without a response.
      run: async () => (answer === undefined ? { state: "absent", says: "" } : judge(answer, endpoint)),
    },
  ];
}

function unanswered({ silence, error }: RawReply, { timeout }: Endpoint): CheckResult {
  if (silence === "no answer in time") {
    const remedy = "the server accepted the request and does not respond: look in its log; --timeout 2m waits longer";
    return failed(`no answer for ${timeout} ms`, remedy, exitCodes.timeout);
  }
  const words = reasonOf(error);
  return { state: "failed", says: words, exitCode: exitCodes.unreachable, remedy: remedyForWords(words) };
}

/** Sends `initialize`, and ends the session that it opens. */
async function ask(endpoint: Endpoint): Promise<RawReply> {
  return exchange(endpoint, {}, initialize());
}

async function askWithoutToken(endpoint: Endpoint): Promise<HttpReply | undefined> {
  const headers = endpoint.headers.filter((header) => !hasAuthorization([header]));
  return (await ask({ ...endpoint, headers })).http;
}

async function judge(answer: HttpReply, endpoint: Endpoint): Promise<CheckResult> {
  const { status, text } = answer;
  const type = mediaTypeOf(answer);
  if (status === 401) return { ...refused(answer), remedy: accessRemedy(answer, endpoint) };
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
  return { ...failed(`an answer with ${found}, where MCP uses application/json or text/event-stream`, notMcp), seen };
}

const notMcp = "this is not an MCP endpoint: its path is often /mcp, or /sse on old servers";

/** Whether a response is one of MCP. Other programs may report an unknown path in JSON-RPC, too, but not an unknown method. */
function isMcp(answer: HttpReply): boolean {
  const { status, text } = answer;
  const type = mediaTypeOf(answer);
  if (type === "text/event-stream") return status === 200;
  if (type !== "application/json" || status === 405) return false;
  const message = decode(text, undefined, clientLimits);
  if (Array.isArray(message) || message instanceof Problem) return false;
  return status !== 404 || ("error" in message && message.error.code === codes.methodNotFound);
}

function refused({ status, statusText, text }: HttpReply): CheckResult {
  return { ...failed(`status ${status} ${statusText}`.trim(), statusRemedy(status) ?? notMcp), seen: excerptOf(text) };
}

/** How to authenticate: with a sign-in where the server has OAuth, otherwise with a header. */
function accessRemedy(answer: HttpReply, { url, headers }: Endpoint): string {
  const header = statusRemedy(401) ?? "";
  if (!isOauthChallenge(answer)) return header;
  if (hasAuthorization(headers)) return "the token is refused: see above";
  const login = `parlance login ${shellWord(url.href)}`;
  // A server with keys of its own often has this challenge too, and no place to sign in.
  return challengeParameter(answer, "resource_metadata") === undefined
    ? `${header}, or with an authorization server ${login}`
    : `${login}, or ${header}`;
}

/** The usual paths of endpoints, for suggestions. */
const usualPaths: readonly string[] = ["/mcp", "/sse", "/"];

async function elsewhere(answer: HttpReply, endpoint: Endpoint): Promise<CheckResult> {
  if (await isOldStream(endpoint)) return { state: "ok", says: "HTTP+SSE, the transport of the first revision" };
  for (const path of usualPaths) {
    const url = new URL(path, endpoint.url);
    if (url.pathname === endpoint.url.pathname) continue;
    const there = { ...endpoint, url };
    const { http } = await ask(there);
    const isThere = http !== undefined && http.status !== 404 && isMcp(http);
    if (isThere || (await isOldStream(there)))
      return { ...refused(answer), remedy: `MCP is spoken at another path: parlance doctor ${url.href}` };
  }
  return refused(answer);
}

/** Whether a GET opens a stream of HTTP+SSE, whose first event names the URL for POSTs. */
async function isOldStream(endpoint: Endpoint): Promise<boolean> {
  const { http } = await exchange(endpoint, { method: "GET" });
  if (http === undefined) return false;
  return http.status === 200 && mediaTypeOf(http) === "text/event-stream" && /^event: ?endpoint\b/m.test(http.text);
}
