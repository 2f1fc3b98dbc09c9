import { httpHandler } from "@parlance/mcp/http";
import { memoryChannels } from "@parlance/mcp/jsonrpc";
import { serveChannel } from "@parlance/mcp/server";
import { describeVerdict, type Entry, recordChannel, type Verdict, violations } from "@parlance/wire";
import { describe, expect, test } from "vitest";
import { calls } from "../../matrix/behaviours/calls.js";
import { changes } from "../../matrix/behaviours/changes.js";
import { prompts } from "../../matrix/behaviours/prompts.js";
import { questions } from "../../matrix/behaviours/questions.js";
import { resources } from "../../matrix/behaviours/resources.js";
import { tools } from "../../matrix/behaviours/tools.js";
import { clientDriver } from "../../matrix/client-driver.js";
import { revisions } from "../../matrix/differences.js";
import type { Opening } from "../../matrix/driver.js";
import { RawHttpChannel } from "../../matrix/http-channel.js";
import { rawDriver } from "../../matrix/raw-driver.js";
import { matrixServer } from "../../matrix/server.js";
import { violations as seenByOracle } from "../../oracle/violations.js";
import { turn } from "../../testing/talks.js";
import { recordedFetch } from "../recording/recorded-fetch.js";

const behaviours = [...calls, ...tools, ...resources, ...prompts, ...questions, ...changes];
const drivers = { client: clientDriver, "raw peer": rawDriver } as const;

/** A recorded transport to a server of this library. */
const transports = {
  memory(onEntry: (entry: Entry) => void): Pick<Opening, "channel" | "target"> {
    const [near, far] = memoryChannels();
    serveChannel(matrixServer(), far, { report: () => undefined });
    return { channel: recordChannel(near, onEntry) };
  },
  http(onEntry: (entry: Entry) => void): Pick<Opening, "channel" | "target"> {
    const handler = httpHandler(matrixServer(), { report: () => undefined });
    const url = "http://localhost/mcp";
    const fetch = recordedFetch((to, init) => handler(new Request(to, init)), onEntry);
    return { channel: new RawHttpChannel(url, fetch), target: { url, fetch } };
  },
} as const;

const combinations = (["memory", "http"] as const).flatMap((transport) =>
  revisions.flatMap((revision) =>
    (["client", "raw peer"] as const).map((kind) => [transport, revision, kind] as const),
  ),
);

describe.each(combinations)("over %s in %s, by %s,", (transport, revision, kind) => {
  test.each(behaviours.map((behaviour) => [behaviour.name, behaviour] as const))(
    "no side breaks a rule: %s",
    async (name, { bare = false, unsound = false, run }) => {
      const entries: Entry[] = [];
      const driver = await drivers[kind]({
        revision,
        capable: !bare,
        ...transports[transport]((entry) => entries.push(entry)),
      });
      await run(driver);
      await turn();
      await driver.close();
      // The raw peer shows what a server does with what no client should say.
      const isJudged = ({ party, rule }: Verdict): boolean =>
        party === "server" || (kind === "client" && !isMeant(rule.id, name, unsound));
      const broken = violations(entries).filter(isJudged);
      expect(broken.map(describeVerdict)).toEqual([]);
      seenByOracle.splice(0); // It watches what the client sends by the schema, and has seen the same.
    },
  );
});

/** Rules that the client breaks on purpose in a behaviour. */
function isMeant(rule: string, name: string, unsound: boolean): boolean {
  return (unsound && rule === "M-5") || (rule === "G-1" && name.includes("cursor"));
}
