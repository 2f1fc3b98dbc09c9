import { join } from "node:path";
import { serveHttp } from "@parlance/mcp/node";
import { createServer } from "@parlance/mcp/server";
import type { Entry } from "@parlance/mcp/wire";
import { expect, test } from "vitest";
import { RecordingFolder } from "../wire/recording-folder.js";
import { fixture, parlance, toolsServer } from "./run.js";

function methodsOf(entries: readonly Entry[]): readonly unknown[] {
  return entries.flatMap((entry) => {
    if (entry.k !== "f" || entry.d !== "c2s") return [];
    return [(JSON.parse(entry.raw ?? "") as { method?: string }).method];
  });
}

const said = ["initialize", "notifications/initialized", "tools/list", "tools/call", "tools/call"];

test("a run of a command records what crosses, and shows it", async () => {
  using folder = new RecordingFolder();
  const { code, stdout } = await parlance(["run", "--once", "--revision", "2025-11-25", ...toolsServer], folder.env);
  expect(code).toBe(0);
  expect(stdout).toContain("tools/call: hello hello");
  expect(stdout).toContain("no rule is broken");
  const [entries = []] = folder.read();
  expect(entries[0]).toMatchObject({ k: "hdr", mode: "launch", server: { cmd: process.execPath } });
  expect(methodsOf(entries)).toEqual(said);
  expect(entries.at(-1)).toMatchObject({ k: "end" });
});

test("a run of a URL records what crosses, and shows it", async () => {
  const server = createServer({ name: "greeter", version: "1.0.0" });
  for (const name of ["hello", "goodbye"]) server.tool(name, { annotations: { readOnlyHint: true } }, () => name);
  await using http = await serveHttp(server);
  using folder = new RecordingFolder();
  const record = join(folder.path, "mine.parlance.jsonl");
  const args = ["run", "--once", "--json", "--revision", "2025-11-25", "--record", record, http.url];
  const { code, stdout, stderr } = await parlance(args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain(`{"recording":${JSON.stringify(record)},"violations":0}`);
  const [entries = []] = folder.read();
  expect(entries[0]).toMatchObject({ k: "hdr", mode: "launch", server: { url: http.url } });
  expect(methodsOf(entries)).toEqual(said);
});

test("a run of a module serves it as a program", async () => {
  using folder = new RecordingFolder();
  const { code } = await parlance(["run", "--once", "--call", "add a:=2 b:=3", fixture("tools-server.js")], folder.env);
  expect(code).toBe(0);
  expect(folder.text).toContain("sum");
});

test("a run in which the server breaks a rule says which, and ends with 2", async () => {
  using folder = new RecordingFolder();
  const noisy = `console.log("listening"); import(${JSON.stringify(fixture("tools-server.js"))}).then(({ server }) =>
    import("@parlance/mcp/node").then(({ serveStdio }) => serveStdio(server)))`;
  const { code, stdout } = await parlance(["run", "--once", "--", process.execPath, "-e", noisy], folder.env);
  expect(stdout).toContain("S-2");
  expect(stdout).toContain("1 violation");
  expect(code).toBe(2);
});

test("a server that cannot be started leaves its recordings all the same", async () => {
  using folder = new RecordingFolder();
  const { code, stdout, stderr } = await parlance(["run", "--once", "--", "no-such-command"], folder.env);
  expect(code).toBe(3);
  expect(stderr).toContain('"no-such-command" could not be started');
  expect(stdout).toContain("recorded to");
  expect(folder.text).toContain("ENOENT");
});
