import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { transformSync } from "rolldown/utils";
import { afterAll, beforeAll, expect, test } from "vitest";
import { main } from "../cli/run.js";
import { Scratch } from "../cli/scratch.js";

// The page on looking at messages is played through: its server lies in a folder, its commands run there one after the other, and
// each prints what stands under it. The oldest Node runs no TypeScript, so the server is compiled, and has the name of a script.

const page = readFileSync(join(import.meta.dirname, "../../docs/start/look.md"), "utf8");
const [, code = ""] = /```ts\n\/\/ server\.ts\n(.*?)```/s.exec(page) ?? [];
const consoles = Array.from(page.matchAll(/```console\n\$ (.*?)\n(.*?)```/gs), ([, command = "", printed = ""]) => {
  return { command, printed };
});
const scratch = new Scratch();

beforeAll(() => {
  symlinkSync(join(import.meta.dirname, "../../node_modules"), scratch.at("node_modules"));
  writeFileSync(scratch.at("package.json"), '{ "type": "module" }');
  writeFileSync(scratch.at("server.js"), transformSync("server.ts", code).code);
  writeFileSync(scratch.at("parlance"), `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`);
  chmodSync(scratch.at("parlance"), 0o755);
});
afterAll(() => scratch[Symbol.dispose]());

async function output(command: string): Promise<string> {
  const env = {
    ...process.env,
    PATH: `${scratch.path}:${process.env.PATH}`,
    PARLANCE_RECORDINGS: scratch.at("recordings"),
    COLUMNS: "100",
    NO_COLOR: "1",
  };
  const child = spawn("sh", ["-c", `${command.replaceAll("server.ts", "server.js")} 2>&1`], { cwd: scratch.path, env });
  child.stdin.end();
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  await once(child, "close");
  return text;
}

/**
 * A text without what differs from run to run: times, sizes, numbers of processes and names of recordings. What a server writes to
 * stderr, and its end, may be seen before or after the messages around it, so these rows come last, and later rows have no number.
 */
function settled(text: string): readonly string[] {
  const lines = text
    .replaceAll("server.js", "server.ts")
    .replaceAll(/\S*\d{8}-\d{6}-[\w-]+-\d+/g, "<recording>")
    .replaceAll(/ +\b\d+\.\d{3,6}\b/g, " <time>")
    .replaceAll(/\b\d+(?:\.\d+)? (?:ms|s)\b/g, "<latency>")
    .replaceAll(/pid \d+/g, "pid <pid>")
    .replaceAll(/(^ *|↔|\bframe )(?:[7-9]|1\d)\b/gm, "$1<later>")
    .replaceAll(/ {2,}/g, " ")
    .trimEnd()
    .split("\n");
  const isLastWords = (line: string): boolean => / (?:server|client) (?:stderr|life) /.test(line);
  return [...lines.filter((line) => !isLastWords(line)), ...lines.filter(isLastWords).toSorted()];
}

test("the page uses talk, run and show, in this order", () => {
  expect(consoles.map(({ command }) => command.split(" ")[1])).toEqual(["talk", "run", "show"]);
});

test.each(consoles)("$command", async ({ command, printed }) => {
  expect(settled(await output(command))).toEqual(settled(printed));
});
