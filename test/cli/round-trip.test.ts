import { fileURLToPath } from "node:url";
import { latest, latestHandshake } from "@parlance/mcp";
import { type Client, connect } from "@parlance/mcp/client";
import { type Command, childChannel } from "@parlance/mcp/node";
import { expect, test } from "vitest";
import { commandFor } from "../examples/git-client.js";
import { newRepository } from "../examples/repository.js";
import { isLong } from "../testing/forms.js";
import { parlance } from "./run.js";
import { Scratch } from "./scratch.js";

const main = fileURLToPath(new URL("../../packages/cli/dist/parlance.js", import.meta.url));
const contacts = fileURLToPath(new URL("../../examples/contacts/server.js", import.meta.url));

/** The actions of a client with a server, the same each time. */
type Session = (client: Client) => Promise<void>;

/** Lists, searches, imports with progress, is asked and says yes, and hears of a change that it has subscribed to. */
const withContacts: Session = async (client) => {
  await client.tools.list().all();
  await client.resources.list().all();
  await client.prompts.list().all();
  const subscription = await client.subscribe({ resourceSubscriptions: ["contacts:/all"] });
  const rows = Array.from({ length: 250 }, (_, at) => `Person ${at}`);
  const onProgress = (): void => undefined;
  await client.tools.call("import_contacts", { csv: ["name", ...rows].join("\n") }, { onProgress });
  for await (const change of subscription) if (change.kind !== undefined) break;
  await Promise.all([
    client.tools.call("search_contacts", { query: "emil" }),
    client.tools.call("get_contact", { id: 2 }),
  ]);
  await client.tools.call("delete_contact", { id: 3 });
  await client.tools.call("get_contact", { id: 99_999 });
  await subscription.close();
};

/** Lists, reads and asks, also what there is not. */
const withGit: Session = async (client) => {
  await client.tools.list().all();
  await client.resources.templates().all();
  const subscription = await client.subscribe({ resourceSubscriptions: ["git:/log"] });
  await Promise.all([client.tools.call("git_status", {}), client.tools.call("git_log", { limit: 2 })]);
  await client.resources.read("git:/log");
  await client.tools.call("git_show", { revision: "nowhere" });
  await subscription.close();
};

/** Holds a session through a tap, which records it. */
async function record(
  path: string,
  { command, args = [], env = {} }: Command,
  revision: string,
  session: Session,
): Promise<void> {
  const tapped = { command: process.execPath, args: [main, "tap", "--record", path, "--", command, ...args], env };
  const answers = { elicitation: () => ({ action: "accept" as const, content: { delete: true } }) };
  await using client = await connect(() => childChannel(tapped), { revision, handlers: answers, timeout: 60_000 });
  await session(client);
}

async function roundTrip(command: Command, revision: string, session: Session): Promise<void> {
  using scratch = new Scratch();
  const [first, second] = [scratch.at("first.parlance.jsonl"), scratch.at("second.parlance.jsonl")];
  await record(first, command, revision, session);
  await record(
    second,
    { command: process.execPath, args: [main, "replay", first, "--as", "server"] },
    revision,
    session,
  );
  const { code, stdout } = await parlance(["diff", first, second]);
  expect(stdout).toMatch(/✔ no difference: \d{2} messages alike\n$/);
  expect(code).toBe(0);
}

for (const { version } of [latestHandshake, latest]) {
  // In the short form each server in one era.
  test.runIf(isLong || version === latestHandshake.version)(
    `a session with contacts, played by its recording, is the same session (${version})`,
    () => roundTrip({ command: process.execPath, args: [contacts] }, version, withContacts),
  );

  const title = `a session with the git server, played by its recording, is the same session (${version})`;
  test.runIf(isLong || version === latest.version)(title, async () => {
    using folder = newRepository();
    await roundTrip(commandFor(folder), version, withGit);
  });
}
