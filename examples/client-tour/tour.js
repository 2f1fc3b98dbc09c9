import { parseArgs } from "node:util";
import { connect } from "@parlance/mcp/client";
import { tapChannel } from "@parlance/mcp/jsonrpc";
import { childChannel } from "@parlance/mcp/node";
import { scriptedAnswers } from "./answers.js";
import { brief, Narrator } from "./narrator.js";
import { answers } from "./sections/answers.js";
import { cache } from "./sections/cache.js";
import { call } from "./sections/call.js";
import { cancel } from "./sections/cancel.js";
import { changes, hearChanges } from "./sections/changes.js";
import { close } from "./sections/close.js";
import { errors } from "./sections/errors.js";
import { hearLog, log } from "./sections/log.js";
import { open } from "./sections/open.js";
import { prior } from "./sections/prior.js";
import { progress } from "./sections/progress.js";
import { getPrompts, prompts } from "./sections/prompts.js";
import { readResources, resources } from "./sections/resources.js";
import { tasks } from "./sections/tasks.js";
import { callTools, listTools } from "./sections/tools.js";
import { verbsOf } from "./verbs.js";

/** @import { ClientOptions } from "@parlance/mcp/client" */

// Goes through all that a client can do: node tour.js [--revision 2025-06-18] [-- command of another server]

const { values, positionals } = parseArgs({ options: { revision: { type: "string" } }, allowPositionals: true });
const [command, ...args] = positionals;
const ours = { command: process.execPath, args: [`${import.meta.dirname}/server.js`] };
const server = command === undefined ? ours : { command, args };

const sections = [
  ...[open, prior, listTools, callTools, progress, cancel, tasks],
  ...[resources, readResources, prompts, getPrompts],
  ...[log, hearLog, changes, hearChanges, answers, cache, call, errors, close],
];

const narrator = new Narrator();
const { note, show } = narrator;
const roots = [{ uri: "file:///home/ada" }];

/** @type {ClientOptions} */
const always = {
  ...values,
  info: { name: "tour", version: "1.0.0" },
  handlers: scriptedAnswers(note, roots),
  onNotification(method, params = {}) {
    if (method === "notifications/message" && "data" in params) note(`! ${params.level}: ${brief(params.data)}`);
  },
};

/** `connect(server, options)` does the same, but for the counting. */
const dial = () =>
  tapChannel(childChannel(server), ({ kind }) => {
    if (kind === "sent" || kind === "received") narrator.frames += 1;
  });

const client = await connect(dial, always).catch((error) => {
  console.error(`client-tour: ${error.message}`);
  process.exit(1);
});
console.log("Left: the call. Right: its result.");
console.log("! marks a notification of the server, ? a request of the server.");
console.log("first(…) is a `for await` loop that stops at the first item.");

const stage = {
  client,
  note,
  show,
  roots,
  connect: (/** @type {ClientOptions | undefined} */ options) => connect(dial, { ...always, ...options }),
};
// By its name, because whatever stands before our own server may have been started instead of it.
const isOurs = client.server.info?.name === "sights";
const played = sections.filter(({ ours = false }) => isOurs || !ours);
for (const { title, play } of played) {
  narrator.heading(title);
  await play(stage);
}

const verbs = verbsOf(client);
const used = verbs.filter((verb) => new RegExp(`\\bclient\\.${verb}\\b`).test(narrator.shown));
narrator.heading(`${used.length} of ${verbs.length} methods of a client were used`);
if (!isOurs)
  console.log("Left out is what calls tools by name: only of the server of this example it is known what they do");
