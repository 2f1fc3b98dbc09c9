import type { ServerChange, Subscription } from "@parlance/mcp/client";
import { type Command, InvalidArgumentError } from "commander";
import { Answerer } from "../../shared/answers/answerer.js";
import { converse } from "../../shared/client/converse.js";
import type { Observation } from "../../shared/client/observed-target.js";
import { type OneRevisionFlags, registerServerCommand, type TargetWords } from "../../shared/client/server-command.js";
import { exitCodes } from "../../shared/exit-codes.js";
import { Failure } from "../../shared/failure.js";
import type { Invocation } from "../../shared/invocation.js";
import { chooseTarget } from "../../shared/options.js";
import { visibleLines } from "../../shared/output/columns.js";
import { jsonLine } from "../../shared/output/json-lines.js";
import type { Output } from "../../shared/output/terminal.js";

interface SubscribeFlags extends OneRevisionFlags {
  readonly count?: number;
}

const about = `Subscribe to resources of a server and print each update as it comes, until Ctrl-C.
Without a URI, changes of the lists of tools, resources and prompts are printed.
It fails with 3 when the server ends the subscription. In a session over HTTP, a
server that is gone may come back: it tries again until Ctrl-C.`;

/** Adds `parlance subscribe`. */
export function registerSubscribe(program: Command, invocation: Invocation): void {
  registerServerCommand<SubscribeFlags>(program, invocation, {
    name: "subscribe",
    summary: "print the updates of resources and lists as they come",
    description: about,
    words: "[uri…]",
    json: "print one JSON object per line, for programs",
    addOptions: (command) => void command.option("--count <n>", "end after this many updates", countOf),
    examples: `  parlance subscribe "node server.js" file:///notes/today.md
  parlance subscribe --count 1 board:today -- node server.js
  parlance subscribe https://example.com/mcp`,
    run: subscribe,
  });
}

function countOf(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Write a whole number from 1 on.");
}

async function subscribe(
  { target, rest }: TargetWords,
  flags: SubscribeFlags,
  invocation: Invocation,
): Promise<number> {
  const { out, err, interrupt, command } = invocation;
  const chosen = await chooseTarget(target, command, flags);
  const answerer = new Answerer(flags, chosen.title, invocation);
  let isLost = false;
  const onObservation = (seen: Observation): void => {
    const wasLost = isLost;
    if (seen.kind === "http") isLost = seen.isLost === true;
    if (isLost && !wasLost) err.print(err.style.yellow("the server cannot be reached: looking for it, until Ctrl-C"));
  };
  return converse({ target: chosen, flags, invocation, answerer, onObservation }, async (client) => {
    const filter = rest.length === 0 ? undefined : { resourceSubscriptions: rest };
    const options = { signal: interrupt.stop, timeout: flags.timeout, unadvertised: flags.force === true };
    const subscription = await client.subscribe(filter, options);
    const json = flags.json === true;
    err.print(err.style.dim(`subscribed to ${subscribedWords(subscription)}; Ctrl-C ends it`));
    interrupt.stop.addEventListener("abort", () => void subscription.close(), { once: true });
    let left = flags.count ?? Number.POSITIVE_INFINITY;
    for await (const change of subscription) {
      out.print(...(json ? [jsonLine({ time: new Date().toISOString(), ...change })] : changeLines(change, out)));
      left -= 1;
      if (left <= 0) break;
    }
    if (left > 0 && !interrupt.stop.aborted) throw overBy(await subscription.closed);
    await subscription.close();
    return exitCodes.clean;
  });
}

/** The failure of a subscription that was to go on. */
function overBy({ reason, error }: Awaited<Subscription["closed"]>): Failure {
  const why = reason === "ended" ? "the server ended it" : (error?.message ?? "the connection was closed");
  return new Failure(`the subscription is over: ${why}`, { exitCode: exitCodes.unreachable, cause: error });
}

function subscribedWords({ filter: { resourceSubscriptions = [], ...lists } }: Subscription): string {
  const names = { toolsListChanged: "tools", resourcesListChanged: "resources", promptsListChanged: "prompts" };
  const listed = Object.entries(names).flatMap(([member, name]) =>
    Object.entries(lists).some(([key, wanted]) => key === member && wanted === true) ? [`the list of ${name}`] : [],
  );
  return [...resourceSubscriptions.flatMap(visibleLines), ...listed].join(", ");
}

function changeLines(change: ServerChange, { style }: Output): readonly string[] {
  const time = style.dim(new Date().toLocaleTimeString("en-GB"));
  if (change.kind === "resource") return visibleLines(change.uri).map((uri) => `${time} updated ${uri}`);
  if (change.kind === "list") return [`${time} list changed: ${change.list}`];
  return [`${time} ${style.yellow("the subscription was interrupted: updates may be missing")}`];
}
