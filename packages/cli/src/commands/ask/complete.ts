import type { Client, ClientCallOptions } from "@parlance/mcp/client";
import { didYouMean, RpcError } from "@parlance/mcp/jsonrpc";
import { methods } from "@parlance/mcp/protocol";
import type { Command } from "commander";
import { findOffered } from "../../shared/client/exercise.js";
import {
  exampleWith,
  type OneRevisionFlags,
  registerServerCommand,
  type TargetWords,
} from "../../shared/client/server-command.js";
import { parseTextArguments } from "../../shared/client/tool-arguments.js";
import { usageFailure } from "../../shared/failure.js";
import type { Invocation } from "../../shared/invocation.js";
import { visibleLines } from "../../shared/output/columns.js";
import { count } from "../../shared/output/quantities.js";
import { askServer } from "./ask-server.js";

type Completion = Awaited<ReturnType<Client["complete"]>>;

const referenceHelp = `The <reference> is the name of a prompt, or the URI template of resources,
as parlance list prints it: a word with {…} or :/ is a template. The first
name=text is the argument to complete; the others are already filled in.`;

/** Adds `parlance complete`. */
export function registerComplete(program: Command, invocation: Invocation): void {
  registerServerCommand<OneRevisionFlags>(program, invocation, {
    name: "complete",
    summary: "print the values that a server suggests for an argument",
    description: `Print the values that a server suggests for an argument of a prompt, or for a variable
of a resource template, one per line.`,
    words: "<reference> <name=text…>",
    json: "print the completion as JSON, for programs",
    help: [referenceHelp],
    examples: `  parlance complete "node server.js" review language=py
  parlance complete 'contacts:/{id}' id= -- node server.js
  parlance complete https://example.com/mcp review framework=fl language=python`,
    run: complete,
  });
}

async function complete(
  { target, rest }: TargetWords,
  flags: OneRevisionFlags,
  invocation: Invocation,
): Promise<number> {
  const [reference, ...written] = rest;
  const [first, ...others] = Object.entries(parseTextArguments(written));
  if (reference === undefined || first === undefined)
    throw usageFailure(
      reference === undefined ? "there is no prompt or template to complete" : "there is no argument to complete",
      exampleWith("complete", "<prompt> <name=text>", target),
    );
  const [name, value] = first;
  return askServer<Completion>(
    { target, flags, invocation },
    {
      method: methods.complete,
      async perform(client, options) {
        let completion: Completion;
        try {
          completion = await client.complete(
            isTemplate(reference) ? { type: "ref/resource", uri: reference } : { type: "ref/prompt", name: reference },
            { name, value },
            { ...options, ...(others.length > 0 && { context: { arguments: Object.fromEntries(others) } }) },
          );
        } catch (error) {
          if (error instanceof RpcError) await requireArgument(client, reference, name, options);
          throw error;
        }
        if (completion.values.length === 0) await requireArgument(client, reference, name, options);
        return completion;
      },
      lines: ({ values }) => values.flatMap(visibleLines),
      notes: (completion) => moreWords(completion),
    },
  );
}

function isTemplate(reference: string): boolean {
  return /\{|:\//.test(reference);
}

/** Servers suggest nothing, or fail, for what does not exist. @throws Failure that names the nearest names */
async function requireArgument(
  client: Client,
  reference: string,
  name: string,
  options: ClientCallOptions,
): Promise<void> {
  const names = isTemplate(reference) ? variablesOf(reference) : await argumentsOf(client, reference, options);
  if (names === undefined || names.includes(name)) return;
  const kind = isTemplate(reference) ? "template" : "prompt";
  throw usageFailure(
    `the ${kind} ${reference} has no argument ${name}: ${names.length === 0 ? "it has none" : `it has ${names.join(", ")}`}`,
    didYouMean(name, names),
  );
}

/** The names of the arguments of a prompt; undefined if the prompts cannot be listed. @throws Failure if it does not exist */
async function argumentsOf(
  client: Client,
  prompt: string,
  { onProgress: _, ...listing }: ClientCallOptions,
): Promise<readonly string[] | undefined> {
  const prompts = await client.prompts
    .list(listing)
    .all()
    .catch(() => undefined);
  if (prompts === undefined) return undefined;
  return (findOffered("prompt", prompt, prompts).arguments ?? []).map((argument) => argument.name);
}

/** https://www.rfc-editor.org/rfc/rfc6570#section-2.3 */
function variablesOf(template: string): readonly string[] {
  return [...template.matchAll(/\{[+#./;?&]?([^}]*)\}/g)].flatMap(([, names = ""]) =>
    names.split(",").map((name) => name.replace(/:\d+$|\*$/, "")),
  );
}

function moreWords({ values, total, hasMore }: Completion): readonly string[] {
  if (values.length === 0) return ["the server suggests nothing"];
  if (total !== undefined && total > values.length) return [`${values.length} of ${count(total, "value")}`];
  return hasMore === true ? ["there are more values"] : [];
}
