import type { Command } from "commander";
import { offeredLists } from "../../shared/client/exercise.js";
import { hasAuthorization, withKeptToken } from "../../shared/client/sign-in.js";
import { exitCodeHelp } from "../../shared/exit-codes.js";
import { usageFailure } from "../../shared/failure.js";
import type { Invocation } from "../../shared/invocation.js";
import { addConversationOptions, type ConversationFlags, chooseTarget } from "../../shared/options.js";
import { cut } from "../../shared/output/columns.js";
import { jsonLine } from "../../shared/output/json-lines.js";
import { type Target, targetHelp } from "../../shared/target/target.js";
import { loginResult } from "./authorization-checks.js";
import { type Check, type Checked, examine, exitCodeOf, type Watcher } from "./check.js";
import { commandResult } from "./command-checks.js";
import { Examined } from "./examined.js";
import { httpChecks } from "./http-checks.js";
import { capabilitiesResult, endResult, listResult, messagesResult } from "./offer-checks.js";
import { answerResult, revisionResult, startResult, stdoutResult } from "./opening-checks.js";
import { transportChecks } from "./url-checks.js";
import { checkLines, doctorVerdict } from "./view.js";

interface DoctorFlags extends ConversationFlags {
  readonly json?: true;
  readonly login?: true;
}

const about = `Find out why a server does not work: check its command, its start, its first response,
its revision, its lists and its exit one by one, and print what was observed and the
remedy for each failure. No tool is called. --login signs you in first, as parlance login does: some faults
of an authorization server show only then.`;

const examples = `Examples:
  parlance doctor -- node server.js
  parlance doctor --header 'Authorization: Bearer abc' https://example.com/mcp
  parlance doctor --login https://example.com/mcp
  parlance doctor --json ./server.js | jq '.checks[].state'`;

/** Adds `parlance doctor`. */
export function registerDoctor(program: Command, invocation: Invocation): void {
  const command = program
    .command("doctor")
    .summary("find out what is wrong with a server, and print the remedy")
    .description(about)
    .usage("[options] <target>\n       parlance doctor [options] -- command args…")
    .argument("[target]", "see below")
    .option("--login", "sign in first, and examine the sign-in")
    .option("--json", "print one JSON object, for programs");
  addConversationOptions(command)
    .addHelpText("after", `\n${targetHelp}\n\n${exitCodeHelp}\n\n${examples}`)
    .action((word: string | undefined, flags: DoctorFlags) => invocation.run(() => doctor(word, flags, invocation)));
}

async function doctor(word: string | undefined, flags: DoctorFlags, invocation: Invocation): Promise<number> {
  const { out, interrupt } = invocation;
  const target = await chooseTarget(word, invocation.command, flags);
  const isForPeople = flags.json !== true;
  if (isForPeople) out.print(out.style.bold(cut(target.title, out.width)));
  const checked = await examineTarget(target, flags, invocation, {
    begin(name) {
      if (isForPeople) out.status(`… ${name}`);
    },
    show(each) {
      if (isForPeople && each.state !== "not tried") out.print(...checkLines(each, out));
    },
  });
  if (interrupt.stop.aborted) return interrupt.exitCode;
  const exitCode = exitCodeOf(checked);
  if (isForPeople) out.print(...doctorVerdict(checked, out));
  else out.print(jsonLine({ target: target.title, exitCode, checks: checked }));
  return exitCode;
}

/** Runs the checks of `parlance doctor`. It starts a command of its own. */
export async function examineTarget(
  chosen: Target,
  flags: ConversationFlags & Pick<DoctorFlags, "login">,
  invocation: Invocation,
  watcher: Watcher,
): Promise<readonly Checked[]> {
  const { stop } = invocation.interrupt;
  const signedIn = flags.login === true ? await examine([loginCheck(chosen)], stop, watcher) : [];
  const target = await withKeptToken(chosen);
  const examined = new Examined(target, flags, invocation);
  try {
    return [...signedIn, ...(await examine(checksOf(target, examined, flags, target !== chosen), stop, watcher))];
  } finally {
    await examined.close();
  }
}

/** @throws Failure for a target that has no sign-in */
function loginCheck(target: Target): Check {
  if (target.kind === "url" && target.url.protocol.startsWith("http") && !hasAuthorization(target.headers))
    return { name: "login", run: () => loginResult(target.url) };
  throw usageFailure(
    "--login is for a server over HTTP, without a token",
    "parlance doctor --login https://example.com/mcp",
  );
}

function checksOf(target: Target, examined: Examined, flags: ConversationFlags, isSignedIn: boolean): readonly Check[] {
  const spoken: readonly Check[] = [
    { name: "answers", isEssential: true, run: () => answerResult(examined) },
    { name: "revision", run: () => revisionResult(examined) },
    { name: "capabilities", run: () => capabilitiesResult(examined) },
    ...offeredLists.map((list) => ({ name: list.name, run: () => listResult(examined, list) })),
    { name: "messages", run: () => messagesResult(examined) },
  ];
  if (target.kind === "module") return spoken;
  if (target.kind === "command") {
    const { command, args } = target;
    return [
      { name: "command", isEssential: true, run: async () => commandResult(command, args) },
      { name: "starts", isEssential: true, run: () => startResult(examined) },
      { name: "stdout clean", run: () => stdoutResult(examined) },
      ...spoken,
      { name: "ends", run: () => endResult(examined) },
    ];
  }
  const { url, headers } = target;
  const { timeout } = flags;
  const isSocket = url.protocol.startsWith("ws");
  return [
    ...transportChecks(url, timeout),
    ...(isSocket ? [] : httpChecks({ url, headers, timeout }, isSignedIn)),
    ...spoken,
  ];
}
