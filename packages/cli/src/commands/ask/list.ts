import { type Client, RpcError } from "@parlance/mcp/client";
import { codes, didYouMean } from "@parlance/mcp/jsonrpc";
import type { Command } from "commander";
import { Answerer } from "../../shared/answers/answerer.js";
import {
  type AskOptions,
  isAsked,
  type ListName,
  type OfferedList,
  offeredLists,
  readList,
} from "../../shared/client/advertised.js";
import { converse } from "../../shared/client/converse.js";
import { registerServerCommand, type ServerFlags, type TargetWords } from "../../shared/client/server-command.js";
import { exitCodes } from "../../shared/exit-codes.js";
import { toFailure, usageFailure } from "../../shared/failure.js";
import type { Invocation } from "../../shared/invocation.js";
import { chooseTarget } from "../../shared/options.js";
import { cut } from "../../shared/output/columns.js";
import { jsonLine } from "../../shared/output/json-lines.js";
import { alsoBroken } from "../../shared/output/quantities.js";
import type { Output } from "../../shared/output/terminal.js";
import { listLines } from "./listing.js";

interface ListFlags extends ServerFlags {
  readonly revision?: string;
}

const about = `Print what a server offers: its tools with their arguments, its resources and templates of
resources, its prompts. Name what to see: tools, resources, templates, prompts.`;

/** Adds `parlance list`. */
export function registerList(program: Command, invocation: Invocation): void {
  registerServerCommand<ListFlags>(program, invocation, {
    name: "list",
    summary: "print the tools, resources and prompts that a server offers",
    description: about,
    words: "[what…]",
    json: "print everything as one JSON object, for programs",
    examples: `  parlance list "node server.js"
  parlance list tools -- node server.js
  parlance list https://example.com/mcp resources templates
  parlance list --json ./server.js tools | jq -r '.tools[].name'`,
    run: list,
  });
}

async function list(
  { target: word, rest: names }: TargetWords,
  flags: ListFlags,
  invocation: Invocation,
): Promise<number> {
  const wanted = names.length === 0 ? offeredLists : names.map(listNamed);
  if (word !== undefined && names.length === 0 && offeredLists.some(({ name }) => name === word))
    throw usageFailure(`there is no target whose ${word} to list`, `parlance list ${word} -- node server.js`);
  const target = await chooseTarget(word, invocation.command, flags);
  const answerer = new Answerer(flags, target.title, invocation);
  return converse({ target, flags, invocation, answerer }, async (client, observed) => {
    const found: Found[] = [];
    const options = { signal: invocation.interrupt.stop, force: flags.force === true };
    for (const each of wanted) found.push(await read(client, each, options));
    const { out, err } = invocation;
    if (flags.json === true) out.print(jsonLine(jsonOf(client, found)));
    else print(client, found, names.length > 0, out);
    const { violations } = observed.conversation.tally;
    if (violations > 0) err.print(err.style.yellow(alsoBroken(violations)));
    if (found.some(({ failure }) => failure !== undefined)) return exitCodes.toolFailed;
    return violations > 0 ? exitCodes.violations : exitCodes.clean;
  });
}

function listNamed(name: string): OfferedList {
  const found = offeredLists.find((each) => each.name === name);
  if (found !== undefined) return found;
  const names = offeredLists.map((each) => each.name);
  throw usageFailure(`${name} is none of ${names.join(", ")}`, didYouMean(name, names));
}

/** The result of listing one kind of item. */
interface Found {
  readonly list: OfferedList;
  readonly items: readonly unknown[];
  readonly isOffered: boolean;
  /** Why listing stopped early. */
  readonly failure?: string;
}

async function read(client: Client, list: OfferedList, options: AskOptions): Promise<Found> {
  if (!isAsked(client, list, options.force)) return { list, items: [], isOffered: false };
  const items: unknown[] = [];
  try {
    const failure = await readList(client, list, options, (item) => items.push(item));
    return { list, items, isOffered: true, ...(failure !== undefined && { failure }) };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    // The server has not advertised it.
    if (client.server.capabilities[list.capability] === undefined) return { list, items: [], isOffered: false };
    // Many servers have resources but no templates method: that is no failure.
    if (list.name === "templates" && error.code === codes.methodNotFound) return { list, items, isOffered: false };
    return { list, items, isOffered: true, failure: toFailure(error, "open").message };
  }
}

function jsonOf({ server, revision }: Client, found: readonly Found[]): object {
  const lists = found.flatMap(({ list: { member }, items, isOffered }) =>
    isOffered ? [[member, items] as const] : [],
  );
  const failures = found.flatMap(({ list, failure }) => (failure === undefined ? [] : [{ list: list.name, failure }]));
  const { info, instructions } = server;
  return { server: info, revision, instructions, ...Object.fromEntries(lists), ...(failures[0] && { failures }) };
}

function print({ server, revision }: Client, found: readonly Found[], isAsked: boolean, out: Output): void {
  const { style, width } = out;
  const { name = "a server without a name", version = "" } = server.info ?? {};
  out.print(`${style.bold(cut(`${name} ${version}`.trim(), width - 16))}${style.dim(` in ${revision}`)}`);
  for (const { list, items, isOffered, failure } of found) {
    if (!isOffered && !isAsked) continue;
    out.print("", headOf(list.name, items.length, isOffered), ...listLines(list.name, items, out));
    if (failure !== undefined) out.print(`  ${style.red(cut(`✖ ${failure}`, width - 2))}`);
  }
  if (!isAsked && found.every(({ isOffered }) => !isOffered))
    out.print("", "It offers neither tools nor resources nor prompts; --force asks all the same.");
}

function headOf(name: ListName, amount: number, isOffered: boolean): string {
  return isOffered
    ? `${amount} ${amount === 1 ? name.slice(0, -1) : name}`
    : `no ${name}: the server does not offer any`;
}
