import type { DevicePrompt, SignInStep } from "@parlance/mcp/auth";
import { escapeControls } from "@parlance/mcp/jsonrpc";
import type { Command } from "commander";
import { signInsAt } from "../../shared/client/kept-sign-ins.js";
import { credentialsFile, signInAt, stepPages } from "../../shared/client/sign-in.js";
import { toFailureAtUrl } from "../../shared/client/url-failure.js";
import { exitCodes } from "../../shared/exit-codes.js";
import { usageFailure } from "../../shared/failure.js";
import { aborted } from "../../shared/interrupt.js";
import type { Invocation } from "../../shared/invocation.js";
import { collect } from "../../shared/options.js";
import { wrapWords } from "../../shared/output/columns.js";
import { count } from "../../shared/output/quantities.js";
import { type Output, printFailure } from "../../shared/output/terminal.js";
import type { RecordedRequests } from "../../shared/target/configured-target.js";
import { badTokenCheck } from "../doctor/authorization-checks.js";
import { checkLines } from "../doctor/view.js";
import { keepSecretsHelp } from "../proxy/proxy.js";
import { recordedTarget } from "../run/recorded-target.js";

interface LoginFlags {
  readonly scope?: readonly string[];
  readonly clientId?: string;
  readonly device?: true;
  readonly explain?: true;
  readonly record?: string;
  readonly keepSecrets?: true;
}

const exitHelp = `Exit codes:
  0  signed in, or no sign-in is needed
  1  the command line is wrong
  3  the sign-in failed, or the server could not be reached`;

/** Adds `parlance login`. */
export function registerLogin(program: Command, invocation: Invocation): void {
  program
    .command("login")
    .summary("sign in to a server over HTTP")
    .description(
      `Sign in to a server over HTTP: opens the page of its authorization server, and prints its address.
Afterwards every command that connects to the server uses the tokens, and renews them.`,
    )
    .argument("<url>", "the address of the server")
    .option("--scope <scope>", "also ask for this scope; may be repeated", collect)
    .option("--client-id <id>", "the id of a client that is registered there (default: register one)")
    .option("--device", "print a code to enter on another device, instead of opening a browser")
    .option(
      "--explain",
      "print each step of the sign-in, where the specification describes it, and whether bad tokens are refused",
    )
    .option("--record <file>", "record to this file; a file that is not empty is never overwritten")
    .option("--keep-secrets", keepSecretsHelp)
    .addHelpText(
      "after",
      `\nTokens are kept in (PARLANCE_CREDENTIALS):\n  ${credentialsFile(process.env)}\n\n${exitHelp}

Examples:
  parlance login https://example.com/mcp
  parlance login --device https://example.com/mcp
  parlance login --explain --scope notes:write https://example.com/mcp
  parlance login --record sign-in.parlance.jsonl https://example.com/mcp`,
    )
    .action((url: string, flags: LoginFlags) => invocation.run(() => login(url, flags, invocation)));
}

async function login(word: string, flags: LoginFlags, invocation: Invocation): Promise<number> {
  const url = serverUrl(word);
  const { record } = flags;
  if (record === undefined) return signIn(url, flags, invocation);
  const recorded = await recordedTarget({ kind: "url", title: url.href, url, headers: [] }, { ...flags, record });
  try {
    return await signIn(url, flags, invocation, recorded.target.kind === "url" ? recorded.target.recorded : undefined);
  } finally {
    const missing = await recorded.end();
    if (missing !== undefined) invocation.err.print(missing);
    invocation.err.print(invocation.err.style.dim(`recorded to ${recorded.path}`));
  }
}

async function signIn(
  url: URL,
  { explain, scope: scopes, clientId, device }: LoginFlags,
  { out, err, interrupt }: Invocation,
  recorded?: RecordedRequests,
): Promise<number> {
  let isChallenged = false;
  const onStep = (step: SignInStep): void => {
    isChallenged = true;
    if (explain === true) printStep(step, out);
  };
  try {
    const options = {
      onStep,
      ...(scopes !== undefined && { scopes }),
      ...(clientId !== undefined && { clientId }),
      ...(device === true && {
        device: { show: (prompt: DevicePrompt) => printPrompt(prompt, err), signal: interrupt.stop },
      }),
    };
    await Promise.race([signInAt(url, options, recorded), aborted(interrupt.stop)]);
    if (interrupt.stop.aborted) return interrupt.exitCode;
  } catch (error) {
    if (interrupt.stop.aborted) return interrupt.exitCode;
    printFailure(toFailureAtUrl(error, "opening"), err);
    return exitCodes.unreachable;
  }
  const signIns = await signInsAt(url);
  if (signIns.length === 0) out.print(isChallenged ? "signed in" : `${url.href} requires no sign-in`);
  for (const { lines } of signIns) out.print(...lines);
  const granted = new Set(signIns.flatMap(({ credentials }) => credentials.tokens?.scopes ?? []));
  const lacking = (scopes ?? []).filter((scope) => granted.size > 0 && !granted.has(scope));
  if (lacking.length > 0)
    err.print(
      err.style.yellow(
        `${lacking.map(escapeControls).join(" ")} was not granted: ask the operator of the server for access`,
      ),
    );
  if (explain === true && isChallenged) await explainBadTokens(url, out);
  return exitCodes.clean;
}

/** A server that takes any token shows no fault in a sign-in: the user has a good one. */
async function explainBadTokens(url: URL, out: Output): Promise<void> {
  const { name, run } = badTokenCheck({ url, timeout: probeTime });
  const { next: _, ...finding } = await run();
  out.print("", ...checkLines({ name, took: 0, ...finding }, out));
}

/** Milliseconds that a server has to refuse a token. */
const probeTime = 10_000;

/** All of it comes from the authorization server. */
function printPrompt({ verificationUri, userCode, expiresIn }: DevicePrompt, { print }: Output): void {
  print("To sign in, open on any device:", "", `  ${escapeControls(verificationUri)}`, "");
  print(
    `and enter the code ${escapeControls(userCode)}, which is valid for ${count(Math.ceil(expiresIn / 60_000), "minute")}`,
  );
}

/** The URL of a server that supports sign-in. @throws Failure */
export function serverUrl(word: string): URL {
  const url = URL.canParse(word) ? new URL(word) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw usageFailure(`${word} is not the URL of a server`, "parlance login https://example.com/mcp");
}

function printStep({ kind, method, url, text }: SignInStep, { print, style, width }: Output): void {
  // The text of an exchange is its request line and what came of it.
  const [title, ...lines] = method === undefined ? [url, ...wrapWords(text, width - 2)] : [text];
  print(style.bold(kind) + (title === undefined ? "" : `  ${title}`));
  print(...lines.map((line) => `  ${line}`), style.dim(`  ${stepPages[kind]}`));
}
