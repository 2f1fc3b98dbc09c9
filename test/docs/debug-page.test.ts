import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { main } from "../cli/run.js";
import { Scratch } from "../cli/scratch.js";

// The page on debugging is played through: its two programs are written to a folder, its commands run there one after the other,
// and each prints what stands under it. Behind the first, this file is the host, and says what the page says that it has asked.

const page = readFileSync(join(import.meta.dirname, "../../docs/guides/debug.md"), "utf8");
const scratch = new Scratch();
afterAll(() => scratch[Symbol.dispose]());

const env = {
  ...process.env,
  PATH: `${scratch.at("")}:${process.env.PATH}`,
  PARLANCE_RECORDINGS: scratch.at("recordings"),
  COLUMNS: "100",
  NO_COLOR: "1",
};

writeFileSync(scratch.at("package.json"), '{ "type": "module" }');
writeFileSync(scratch.at("parlance"), `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`);
chmodSync(scratch.at("parlance"), 0o755);
writeFileSync(
  scratch.at("mcp.json"),
  '{\n  "mcpServers": {\n    "weather": { "command": "node", "args": ["weather.js"] }\n  }\n}\n',
);
for (const [, name = "", code = ""] of page.matchAll(/```js\n\/\/ ([\w-]+\.js)\n(.*?)```/gs))
  writeFileSync(scratch.at(name), code);

async function output(command: string): Promise<string> {
  const child = spawn("sh", ["-c", `${command} 2>&1`], { cwd: scratch.path, env, stdio: ["ignore", "pipe", "ignore"] });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  await once(child, "close");
  return text;
}

/** Starts the server as its configuration says, and speaks to it; each message goes out when the text before it has come. */
async function host(): Promise<void> {
  const { mcpServers } = JSON.parse(readFileSync(scratch.at("mcp.json"), "utf8")) as {
    readonly mcpServers: { readonly weather: { readonly command: string; readonly args: readonly string[] } };
  };
  const { command, args } = mcpServers.weather;
  const child = spawn(command, [...args], { cwd: scratch.path, env, stdio: ["pipe", "pipe", "ignore"] });
  child.stdin.on("error", () => undefined); // The server crashes, and closes it.
  const call = (id: number, city: string): object => {
    return { id, method: "tools/call", params: { name: "weather", arguments: { city } } };
  };
  const clientInfo = { name: "host", version: "1" };
  const steps: (readonly [after: string, message: object])[] = [
    ["", { id: 0, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo } }],
    ['"id":0', { method: "notifications/initialized" }],
    ['"id":0', { id: 1, method: "tools/list" }],
    ['"id":1', call(2, "Oslo")],
    ["RAIN", call(3, "Paris")],
  ];
  let said = "";
  const speak = (): void => {
    for (let [next] = steps; next !== undefined && said.includes(next[0]); [next] = steps) {
      steps.shift();
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...next[1] })}\n`);
    }
  };
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    said += chunk;
    speak();
  });
  speak();
  await once(child, "close");
}

/**
 * A text without what differs from run to run: times, numbers of processes, names of recordings, and columns that depend on them.
 * The last words of a server, on stderr, may be seen before what it wrote to stdout, or behind its end: so they come last, and
 * the numbers of all of these rows are left out.
 */
function settled(text: string): readonly string[] {
  const lines = text
    .replaceAll(/\S*\d{8}-\d{6}-weather-\d+/g, "<recording>")
    .replaceAll(`${scratch.path}/`, "")
    .replaceAll(/\d+\.\d{6}/g, "<time>")
    .replaceAll(/\b\d+(?:\.\d+)? (?:ms|s)\b/g, "<latency>")
    .replaceAll(/pid \d+/g, "pid <pid>")
    .replaceAll(/(^ |\bframe |jsonl:)1[1-9]\b/gm, "$1<later>")
    .replaceAll(/ {2,}/g, "  ")
    .trimEnd()
    .split("\n");
  const isLastWords = (line: string): boolean => /server {2}(?:stderr|life)/.test(line);
  // How often one side was slower than the other depends on the machine.
  const isTiming = (line: string): boolean => line.startsWith("timing ");
  return [...lines.filter((line) => !isLastWords(line) && !isTiming(line)), ...lines.filter(isLastWords).toSorted()];
}

describe("the page on debugging prints what it says", () => {
  const consoles = Array.from(page.matchAll(/```console\n\$ (.*?)\n(.*?)```/gs), ([, command = "", printed = ""]) => {
    return { command, printed };
  });

  test("it uses wrap, tail, show, check and replay, in this order", () => {
    expect(consoles.map(({ command }) => command.split(" ")[1])).toEqual(["wrap", "tail", "show", "check", "replay"]);
  });

  test.each(consoles)("$command", async ({ command, printed }) => {
    expect(settled(await output(command))).toEqual(settled(printed));
    if (command.startsWith("parlance wrap")) await host();
  });
});
