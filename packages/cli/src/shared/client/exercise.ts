import type { Tool } from "@parlance/mcp";
import type { Client } from "@parlance/mcp/client";
import { didYouMean } from "@parlance/mcp/jsonrpc";
import { type JsonObject, methods } from "@parlance/mcp/protocol";
import { usageFailure } from "../failure.js";
import { type AskOptions, listAdvertised, unlessRefused } from "./advertised.js";
import { argumentsFor, type WantedCall } from "./tool-arguments.js";

/** Why a tool was not called. */
export interface Skipped {
  readonly tool: string;
  readonly why: "needs arguments" | "is not marked read-only";
}

/**
 * Lists what the server advertises, or every list with `force`. Then calls the wanted tools, and those that are marked read-only and
 * need no arguments. Returns the tools that were not called.
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
  // A listener makes the client ask for progress, which the view shows as frames.
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

/** The first few names that a server offers. */
export function offersWords(names: readonly string[]): string {
  if (names.length === 0) return "it offers none";
  return `it offers ${names.slice(0, mostNamed).join(", ")}${names.length > mostNamed ? ", …" : ""}`;
}

function reasonToSkip({ inputSchema, annotations }: Tool): Skipped["why"] | undefined {
  if (annotations?.readOnlyHint !== true) return "is not marked read-only";
  const { required } = inputSchema;
  return Array.isArray(required) && required.length > 0 ? "needs arguments" : undefined;
}
