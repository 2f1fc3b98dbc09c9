import { revisionOf } from "@parlance/mcp/protocol";
import { missingVariableRemedy } from "../../shared/client/url-failure.js";
import { exitCodes } from "../../shared/exit-codes.js";
import { Failure, remedyForSigns } from "../../shared/failure.js";
import { partsOf } from "../../shared/output/conversation-rows.js";
import type { Part } from "../../shared/output/rows.js";
import type { CheckResult } from "./check.js";
import { type Examined, isAnswer } from "./examined.js";

/** The maximum number of noise lines shown. */
const mostLines = 5;

/** Checks that a started command does not exit before its first response. */
export async function startResult(examined: Examined): Promise<CheckResult> {
  const opened = await examined.open();
  const { seen, observed } = examined;
  const first = seen.find((each) => each.kind === "stderr" || (each.kind === "frame" && each.row.from === "server"));
  const at = first === undefined ? {} : { took: first.kind === "frame" ? first.row.at : first.at };
  const isAnswered = examined.firstAnswer !== undefined;
  if ("failure" in opened && !isAnswered && observed.conversation.tally.frames === 0) return unstarted(opened.failure);
  if ("failure" in opened && !isAnswered && observed.ended !== undefined)
    return died(observed.ended, observed.stderr, at);
  const restarted = seen.some(({ kind }) => kind === "life");
  const notes = restarted ? ["server/discover got no answer, so it was started again for a handshake"] : [];
  return { state: "ok", says: "runs, and waits for input", notes, ...at };
}

function unstarted({ message, seen, remedy, exitCode }: Failure): CheckResult {
  return { state: "failed", says: message, seen, exitCode, remedy };
}

function died(how: string, stderr: readonly string[], at: Pick<CheckResult, "took">): CheckResult {
  // The error itself stands above its stack.
  const error = stderr.findLastIndex((line) => /^\s*(?:Uncaught )?\w*Error\b/.test(line));
  const seen = error < 0 ? stderr.slice(-mostLines * 2) : stderr.slice(error, error + mostLines * 2);
  const remedy =
    missingVariableRemedy(stderr) ??
    remedyForSigns([how, ...stderr].join("\n")) ??
    (seen.length === 0
      ? "start it by hand: it must not exit before its input ends"
      : "these are its last lines on stderr: fix that error, then start it by hand and check that it waits for input");
  return {
    state: "failed",
    says: `${how} before it had answered`,
    seen,
    remedy,
    exitCode: exitCodes.unreachable,
    ...at,
  };
}

/** Checks that stdout has only MCP messages, up to the first response. */
export async function stdoutResult(examined: Examined): Promise<CheckResult> {
  await examined.open();
  const end = examined.firstAnswer?.entry.n ?? Number.POSITIVE_INFINITY;
  const noise = examined.frames
    .filter(({ from, entry }) => from === "server" && entry.n < end)
    .flatMap(partsOf)
    .filter(({ kind }) => kind === "noise" || kind === "frag");
  if (noise.length === 0) return { state: "ok", says: "nothing but messages" };
  const lines = noise.map(({ detail }) => detail);
  const more = lines.length > mostLines ? [`… and ${lines.length - mostLines} more`] : [];
  return {
    state: "failed",
    says: lines.length === 1 ? "a line that is not a message" : `${lines.length} lines that are not messages`,
    seen: [...lines.slice(0, mostLines), ...more],
    remedy: noiseRemedy(lines),
    exitCode: exitCodes.violations,
  };
}

const noiseRemedies: readonly { readonly seen: RegExp; readonly remedy: string }[] = [
  {
    seen: /^Content-Length:/i,
    remedy: "this is the framing of language servers: in MCP a message is one line of JSON",
  },
  { seen: /^\s*[{[]\s*$/, remedy: "print JSON without line breaks: a message is one line" },
];

function noiseRemedy(lines: readonly string[]): string {
  const known = noiseRemedies.find(({ seen }) => lines.some((line) => seen.test(line)));
  return known?.remedy ?? "stdout belongs to MCP: log to stderr, with console.error or print(…, file=sys.stderr)";
}

/** Checks that the first request gets a response. */
export async function answerResult(examined: Examined): Promise<CheckResult> {
  const opened = await examined.open();
  if ("failure" in opened) return unanswered(opened.failure, examined);
  const answer = examined.frames.findLast(({ kind, messages }) => kind === "res" && messages.some(isAnswer));
  const [part] = answer === undefined ? [] : partsOf(answer);
  return { state: "ok", says: answerText(part), ...(part?.latency !== undefined && { took: part.latency }) };
}

function answerText(part: Part | undefined): string {
  return part === undefined ? "" : `${part.method}: ${part.detail}`;
}

/** The finding on a server that did not respond. If its stderr names a URL, the server may listen there instead. */
function unanswered({ message, seen, remedy, exitCode }: Failure, examined: Examined): CheckResult {
  const { target, frames, isEcho, observed } = examined;
  const { stderr } = observed;
  if (isEcho)
    return { state: "failed", says: "it repeats the messages of the client", remedy: "is it an MCP server?", exitCode };
  const said = [...stderr, ...frames.flatMap(({ from, entry }) => (from === "server" ? [entry.raw] : []))].join("\n");
  const url = target.kind === "command" ? /https?:\/\/[^\s"'<>)\]]+/.exec(said)?.[0] : undefined;
  const elsewhere =
    url === undefined ? (missingVariableRemedy(stderr) ?? remedy) : `it seems to serve HTTP: parlance doctor ${url}`;
  const evidence =
    stderr.length === 0 || seen.length > 0 ? seen : ["its last lines on stderr:", ...stderr.slice(-mostLines)];
  return { state: "failed", says: message, seen: evidence, exitCode, remedy: elsewhere };
}

/** Checks which revisions the server supports, in both eras. */
export async function revisionResult(examined: Examined): Promise<CheckResult> {
  const { revision } = await examined.client();
  if (revisionOf(revision)?.era === "handshake")
    return { state: "ok", says: `${revision}, with a handshake; the stateless era is not supported`, took: 0 };
  const older = await examined.tryHandshake();
  if (!(older instanceof Failure)) return { state: "ok", says: `${revision}, stateless; ${older}, with a handshake` };
  const notes = [`with a handshake: ${older.message}`, "hosts that are older than this server cannot connect to it"];
  return { state: "ok", says: `${revision}, stateless; a handshake is not supported`, notes };
}
