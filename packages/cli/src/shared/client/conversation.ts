import type { Tool } from "@parlance/mcp";
import type { Client, ClientOptions } from "@parlance/mcp/client";
import { describeReport, didYouMean } from "@parlance/mcp/jsonrpc";
import { type Era, methods } from "@parlance/mcp/protocol";
import type { Answerer } from "../answers/answerer.js";
import { exitCodes } from "../exit-codes.js";
import { Failure, usageFailure } from "../failure.js";
import type { Interrupt } from "../interrupt.js";
import type { JsonObject } from "../json.js";
import { durationText } from "../output/quantities.js";
import type { Output } from "../output/terminal.js";
import { type AskOptions, listAdvertised, unlessRefused } from "./advertised.js";
import type { ObservedTarget } from "./observed-target.js";
import { argumentsFor, type WantedCall } from "./tool-arguments.js";

/** How to speak to a server. */
export interface SpeakOptions {
  /** The revision to insist on. */
  readonly revision: string | undefined;
  /** The era to insist on. Default: that of `revision`, or either. */
  readonly era?: Era;
  /** Milliseconds to wait for each answer. */
  readonly timeout: number;
  /** Where a person reads that the server takes its time. */
  readonly err: Output;
  readonly interrupt: Interrupt;
  /** Answers what the server asks. Default: nothing is declared. */
  readonly answerer?: Answerer;
}

/** Milliseconds after which a person is told that the server has not answered yet, and one of the handshake era is greeted. */
const probeTimeout = 5_000;

/** Opens a conversation. @throws Failure */
export async function openConversation(observed: ObservedTarget, options: SpeakOptions): Promise<Client> {
  const { revision, era, timeout, err, interrupt, answerer } = options;
  const settings: ClientOptions = {
    timeout,
    probeTimeout: Math.min(timeout, probeTimeout),
    report(each) {
      if (each.kind === "slow-start") err.print(err.style.dim(stillStarting(each.milliseconds)));
      if (each.kind === "left-out" || each.kind === "tolerated") err.print(err.style.yellow(describeReport(each)));
    },
    ...(revision !== undefined && { revision }),
    ...(era !== undefined && { era }),
    ...(answerer !== undefined && { answers: answerer.answers, clock: answerer.clock }),
  };
  // A client that is being opened cannot be told to stop: it is not waited for, and its channel is taken away.
  const stopped = aborted(interrupt.stop).then((): never => {
    throw new Failure("interrupted", { exitCode: exitCodes.interrupted });
  });
  try {
    return await Promise.race([observed.open(settings), stopped]);
  } catch (error) {
    throw observed.failure(error, "opening");
  }
}

/** What a person reads while a server takes its time. */
export function stillStarting(milliseconds: number): string {
  return `still starting … no answer for ${durationText(milliseconds)}`;
}

/** One listener for each signal, however many wait for it: Node warns of a leak when there are more than ten. */
const abortions = new WeakMap<AbortSignal, Promise<undefined>>();

/** Resolves when a signal is aborted. */
export function aborted(signal: AbortSignal): Promise<undefined> {
  const known = abortions.get(signal);
  if (known !== undefined) return known;
  const abortion = new Promise<undefined>((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
  abortions.set(signal, abortion);
  return abortion;
}

/** Why a tool was not called. */
export interface Skipped {
  readonly tool: string;
  readonly why: "needs arguments" | "is not marked read-only";
}

/**
 * Lists what the server advertises, or everything that there may be, then calls the tools that are wanted, and those that are marked read-only and need
 * no arguments. Gives back the tools that were left alone.
 */
export async function exercise(
  client: Client,
  wanted: readonly WantedCall[],
  options: AskOptions,
): Promise<readonly Skipped[]> {
  const tools = await listAdvertised(client, options);
  const calls = wanted.map(({ tool, args }) => ({ tool, args: argumentsFor(args, findTool(tool, tools).inputSchema) }));
  const names = new Set(wanted.map(({ tool }) => tool));
  const others = tools.filter(({ name }) => !names.has(name));
  const safe = others.filter((tool) => reasonToSkip(tool) === undefined).map(({ name }) => ({ tool: name, args: {} }));
  for (const { tool, args } of [...safe, ...calls]) await callTool(client, tool, args, options);
  return others.flatMap((tool) => {
    const why = reasonToSkip(tool);
    return why === undefined ? [] : [{ tool: tool.name, why }];
  });
}

async function callTool(
  client: Client,
  name: string,
  args: JsonObject,
  { signal, force: unadvertised = false }: AskOptions,
): Promise<void> {
  // To listen is to ask for progress: it is seen as it crosses the channel.
  const options = { signal, unadvertised, notify: () => undefined };
  await unlessRefused(client.call(methods.callTool, { name, arguments: args }, options));
}

/** The tool of that name. @throws Failure that names the nearest ones */
export function findTool(name: string, tools: readonly Tool[]): Tool {
  const found = tools.find((tool) => tool.name === name);
  if (found !== undefined) return found;
  const names = tools.map((tool) => tool.name);
  throw usageFailure(`the server has no tool ${name}: ${offersWords(names)}`, didYouMean(name, names));
}

const mostNamed = 12;

/** What a server has instead of what it was asked for: the first few names. */
export function offersWords(names: readonly string[]): string {
  if (names.length === 0) return "it offers none";
  return `it offers ${names.slice(0, mostNamed).join(", ")}${names.length > mostNamed ? ", …" : ""}`;
}

function reasonToSkip({ inputSchema, annotations }: Tool): Skipped["why"] | undefined {
  if (annotations?.readOnlyHint !== true) return "is not marked read-only";
  const { required } = inputSchema;
  return Array.isArray(required) && required.length > 0 ? "needs arguments" : undefined;
}

/** Milliseconds: a server that answers twice, or writes noise behind its answer, does so soon. */
const aftermath = 100;

/** Waits for what the server may send behind its last answer. */
export async function awaitAftermath(stop: AbortSignal): Promise<void> {
  await Promise.race([new Promise((resolve) => setTimeout(resolve, aftermath)), aborted(stop)]);
}

/** Stays until the server or the person ends the conversation. @throws Failure if the server did not end in order */
export async function untilOver(client: Client, observed: ObservedTarget, stop: AbortSignal): Promise<void> {
  const closed = await Promise.race([client.closed, aborted(stop)]);
  if (closed?.error === undefined || observed.ended === "exited with code 0") return;
  throw new Failure(closed.error.message.split("\n")[0] ?? "", {
    exitCode: exitCodes.unreachable,
    cause: closed.error,
  });
}
