import { memoryChannels } from "@parlance/mcp/jsonrpc";
import { messagesOf, type Revision, revisions } from "@parlance/mcp/protocol";
import { EntryWriter, levelOf, type RawClient } from "@parlance/wire";
import { describe, expect, test } from "vitest";
import { probes } from "../../../../packages/cli/src/commands/check/examination/examine.js";
import {
  type Probe,
  type ProbeOutcome,
  Subject,
  verdictOf,
} from "../../../../packages/cli/src/commands/check/examination/probe.js";
import { openRawClient } from "../../../../packages/cli/src/shared/target/raw-client.js";
import type { Route } from "../../../../packages/cli/src/shared/target/route.js";
import { isLong } from "../../../testing/forms.js";
import { plainHttp } from "../../plain-http.js";
import { probeCases } from "./probe-cases.js";
import { type Quirk, RawServer } from "./probe-server.js";
import { protectedServer, tokens } from "./protected-probe-server.js";

type Transport = RawClient["transport"];

interface Place {
  readonly probe: Probe;
  readonly revision: Revision;
  readonly transport: Transport;
}

/** Where a probe asks: in each revision, over each transport. */
function placesOf(probe: Probe, only?: Transport): readonly (readonly [string, Place])[] {
  const { applies = () => true } = probe;
  return revisions.flatMap((revision) =>
    (["channel", "http"] as const)
      .filter((transport) => applies(revision, transport) && transport === (only ?? transport))
      .map((transport) => [`${revision.version}, ${transport}`, { probe, revision, transport }] as const),
  );
}

let lastTaken = 0;

/** The places that are tried: every third one in the short form. */
function tried(places: ReturnType<typeof placesOf>): ReturnType<typeof placesOf> {
  return places.filter(() => {
    lastTaken += 1;
    return isLong || places.length === 1 || lastTaken % 3 === 0;
  });
}

/** The finding of a probe on a server. */
async function found({ probe, revision, transport }: Place, quirk: Quirk, timeout: number): Promise<ProbeOutcome> {
  const server = new RawServer(revision, quirk);
  await using http = transport === "http" ? await plainHttp(server.listener) : undefined;
  const writer = new EntryWriter(() => undefined);
  const route: Route =
    http === undefined
      ? { kind: "channel", dial: () => channelTo(server) }
      : { kind: "http", url: new URL(http.url), headers: [["Authorization", tokens.good]] };
  const client = openRawClient(route, { timeout, writer, session: "1", revision });
  const { good: authorization, foreign, otherUser } = tokens;
  const access = http === undefined ? undefined : { url: new URL(http.url), authorization, foreign, otherUser };
  const subject = new Subject(client, messagesOf(revision.version), access);
  expect(await subject.open()).toEqual({ is: "passed" });
  const finding = await probe.ask(subject);
  if (transport === "channel") await client.close();
  return finding;
}

/** A channel of this process to a server. */
function channelTo(server: RawServer): ReturnType<typeof memoryChannels>[0] {
  const [near, far] = memoryChannels();
  far.open({
    frame: (text) => {
      for (const answer of server.answer(text)) void far.send(JSON.stringify(answer));
    },
    refuse: () => undefined,
    end: () => undefined,
  });
  return near;
}

const generous = 20_000;
const short = 1_000;

// At the same time, because the clients of silent servers wait.
describe.concurrent.each(probes.map((probe) => [probe.id, probe] as const))("%s", (_id, probe) => {
  test.each(tried(placesOf(probe)))("passes a server that does as its sentence says in %s", async (_name, place) => {
    const sound = probe.id.startsWith("XA-") ? protectedServer() : {};
    expect(await found(place, sound, generous)).toEqual({ is: "passed" });
  });

  const own = probeCases.filter((each) => each.probe === probe.id);

  test("has servers that it fails in every place", () => {
    const failing = own.filter(({ isNote }) => isNote === undefined || probe.doubt !== undefined);
    const covered = new Set(failing.flatMap(({ only }) => placesOf(probe, only).map(([name]) => name)));
    expect([...covered].toSorted()).toEqual(
      placesOf(probe)
        .map(([name]) => name)
        .toSorted(),
    );
  });

  for (const { quirk, says, isNote, isSilent, only } of own)
    test.each(tried(placesOf(probe, only)))(`fails a server of which is said ${says} in %s`, async (_name, place) => {
      const finding = await found(place, quirk, isSilent === true ? short : generous);
      expect(finding).toMatchObject({ is: "failed", says: expect.stringMatching(says) as unknown });
      const { revision } = place;
      const verdict = finding.is === "failed" ? verdictOf(probe, finding, 1, revision) : undefined;
      expect(verdict?.level).toBe(isNote === true ? "may" : levelOf(probe, revision));
    });
});
