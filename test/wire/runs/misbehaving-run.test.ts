import { describe, expect, test } from "vitest";
import { fixture, parlance } from "../../cli/run.js";
import { expectations, type Outcome } from "../../fixtures/misbehaving/expected.js";
import { startServer } from "../../fixtures/misbehaving/running-server.js";
import type { Script } from "../../fixtures/misbehaving/script.js";
import { RecordingFolder } from "../recording/recording-folder.js";
import { expectOutcome } from "./outcomes.js";

/** Misbehaviours that need a client of their own: one that declares sampling, and one that keeps asking while it waits. */
const applies = ({ script }: { readonly script: Script }): boolean =>
  script.capabilities?.sampling === undefined && script.cues === undefined;

describe.concurrent.each(expectations.filter(applies))("$name", ({ script, noise, stdio, http }) => {
  const server = [fixture("misbehaving/server.js"), ...(noise ? ["--noise"] : [])];

  test("is seen by run on stdio", async () => {
    await run(script, ["--", process.execPath, ...server], stdio);
  });

  test("is seen by run over HTTP", async () => {
    await using running = await startServer([...server, "--http"]);
    await run(script, [running.url], http);
  });
});

/** How a call ends that the client has waited for in vain. */
const inVain = /^no response: (?:it was cancelled by frame \d+|the server exited|its HTTP )/;

/** Lets the command be the client. */
async function run(script: Script, target: readonly string[], { verdicts, waiting }: Outcome): Promise<void> {
  const { tool, revision = "2025-11-25" } = script;
  using folder = new RecordingFolder();
  const options = ["--once", "--json", "--revision", revision, "--timeout", "3s", "--call", tool];
  const { code, stderr } = await parlance(["run", ...options, ...target], folder.env);
  const [entries = []] = folder.read();
  expectOutcome(entries, { verdicts, ...(waiting && { waiting, never: inVain }) });
  const isClean = waiting === undefined && verdicts.every(({ level }) => level !== "must");
  expect(code === 0, stderr).toBe(isClean);
}
