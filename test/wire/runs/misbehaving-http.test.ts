import { describe, expect, test } from "vitest";
import { fixture } from "../../cli/run.js";
import { expectationsIn } from "../../fixtures/misbehaving/expected.js";
import { driveHttp, type HttpStep } from "../../fixtures/misbehaving/http-client.js";
import { startServer } from "../../fixtures/misbehaving/running-server.js";
import { RecordingFolder } from "../recording/recording-folder.js";
import { httpEntriesOf } from "../recording/transcript-entries.js";
import { expectOutcome } from "./outcomes.js";

const transports = { "event streams": [], "JSON bodies": ["--json"] } as const;

const combinations = (["2025-11-25", "2026-07-28"] as const).flatMap((revision) =>
  (["event streams", "JSON bodies"] as const).map((transport) => [revision, transport] as const),
);

describe.each(combinations)("in %s, in %s,", (revision, transport) => {
  const table = expectationsIn(revision);

  test("everything is judged", () => expect(table.length).toBeGreaterThan(24));

  test.each(table)("$name is seen by the proxy, and in the bytes that its client has seen", async (each) => {
    const { script, noise, http } = each;
    const outcome = transport === "JSON bodies" ? (each.json ?? http) : http;
    using folder = new RecordingFolder();
    const words = [fixture("misbehaving/server.js"), "--http", ...(noise ? ["--noise"] : []), ...transports[transport]];
    await using running = await startServer(words);
    const drive = async (): Promise<readonly HttpStep[]> => {
      await using proxy = await folder.proxy(running.url);
      return await driveHttp(proxy.url, script);
    };
    const steps = await drive();
    const [entries = []] = folder.read();
    expectOutcome(entries, outcome);
    expectOutcome(httpEntriesOf(steps), outcome);
  });
});
