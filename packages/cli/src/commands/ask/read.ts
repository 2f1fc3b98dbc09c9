import type { ReadResourceResult, ResourceContents } from "@parlance/mcp/client";
import { methods } from "@parlance/mcp/protocol";
import type { Command } from "commander";
import {
  exampleWith,
  type OneRevisionFlags,
  registerServerCommand,
  type TargetWords,
} from "../../shared/client/server-command.js";
import { usageFailure } from "../../shared/failure.js";
import type { Invocation } from "../../shared/invocation.js";
import { verbatimLines, visibleLines } from "../../shared/output/columns.js";
import { blobText, peerText } from "../../shared/output/content-blocks.js";
import type { Style } from "../../shared/output/style.js";
import { askServer } from "./ask-server.js";

/** Adds `parlance read`. */
export function registerRead(program: Command, invocation: Invocation): void {
  registerServerCommand<OneRevisionFlags>(program, invocation, {
    name: "read",
    summary: "read one resource of a server, and print its contents",
    description: "Read one resource of a server. Its contents go to stdout, their time and size to stderr.",
    words: "<uri>",
    json: "print the result as JSON, for programs",
    examples: `  parlance read "node server.js" file:///notes/today.md
  parlance read contacts:/1 -- node server.js
  parlance read --json https://example.com/mcp data:/logo | jq -r '.contents[0].blob' | base64 -d > logo.png`,
    run: read,
  });
}

async function read({ target, rest }: TargetWords, flags: OneRevisionFlags, invocation: Invocation): Promise<number> {
  const [uri, ...more] = rest;
  if (uri === undefined) throw usageFailure("there is no resource to read", exampleWith("read", "<uri>", target));
  if (more.length > 0) throw usageFailure(`unexpected argument: ${more.join(" ")}`, "parlance help read");
  return askServer<ReadResourceResult>(
    { target, flags, invocation },
    {
      method: methods.readResource,
      perform: (client, options) => client.resources.read(uri, options),
      lines: ({ contents }, style) => contentsLines(contents, style),
    },
  );
}

/** The contents of a resource: text with its control characters escaped, blobs described; several contents each with their URI. */
function contentsLines(contents: readonly ResourceContents[], style: Style): readonly string[] {
  return contents.flatMap((each) => {
    if (!("text" in each)) return visibleLines(blobText(each)).map(style.dim);
    const title = contents.length > 1 ? visibleLines(`[${peerText(each.uri)}]`).map(style.dim) : [];
    return [...title, ...verbatimLines(peerText(each.text))];
  });
}
