import type { Client, ClientCallOptions, GetPromptResult } from "@parlance/mcp/client";
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
import { blockLines, peerText } from "../../shared/output/content-blocks.js";
import type { Style } from "../../shared/output/style.js";
import { askServer } from "./ask-server.js";

/** Adds `parlance prompt`. */
export function registerPrompt(program: Command, invocation: Invocation): void {
  registerServerCommand<OneRevisionFlags>(program, invocation, {
    name: "prompt",
    summary: "get one prompt of a server, and print its messages",
    description: "Get one prompt of a server. Its messages go to stdout, their time and size to stderr.",
    words: "<prompt> [name=text…]",
    json: "print the result as JSON, for programs",
    examples: `  parlance prompt "node server.js" review language=python
  parlance prompt write_to name=Ada about=lunch -- node server.js
  parlance prompt --json https://example.com/mcp review | jq -r '.messages[].content.text'`,
    run: prompt,
  });
}

async function prompt({ target, rest }: TargetWords, flags: OneRevisionFlags, invocation: Invocation): Promise<number> {
  const [name, ...others] = rest;
  const args = parseTextArguments(others);
  if (name === undefined) throw usageFailure("there is no prompt to get", exampleWith("prompt", "<name>", target));
  return askServer<GetPromptResult>(
    { target, flags, invocation },
    {
      method: methods.getPrompt,
      perform: (client, options) => getPrompt(client, name, args, options),
      lines: promptLines,
      notes: ({ description }) => (description === undefined ? [] : visibleLines(peerText(description))),
    },
  );
}

async function getPrompt(
  client: Client,
  name: string,
  args: Readonly<Record<string, string>>,
  options: ClientCallOptions,
): Promise<GetPromptResult> {
  const { onProgress: _, ...listing } = options;
  const prompts = await client.prompts.list(listing).all();
  const { arguments: known = [] } = findOffered("prompt", name, prompts);
  const missing = known.filter((each) => each.required === true && !Object.hasOwn(args, each.name));
  if (missing.length > 0)
    throw usageFailure(
      `the prompt ${name} requires ${missing.map((each) => each.name).join(", ")}`,
      missing.map((each) => `${each.name}=…`).join(" "),
    );
  return client.prompts.get(name, args, options);
}

/** The messages of a prompt, each after its role. */
function promptLines({ messages }: GetPromptResult, style: Style): readonly string[] {
  return messages.flatMap(({ role, content }, index) => [
    ...(index === 0 ? [] : [""]),
    ...visibleLines(`${peerText(role)}:`).map(style.bold),
    ...blockLines(content, style),
  ]);
}
