import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { main, misbehaving, parlance, start, toolsServer } from "./run.js";

let mainPage = "";
let commands: readonly string[] = [];

beforeAll(async () => {
  mainPage = (await parlance(["--help"], { COLUMNS: "80" })).stdout;
  const [, ...groups] = mainPage.split("Options:");
  commands = [...groups.join("").matchAll(/^ {2}([a-z]+) /gm)].map(([, name = ""]) => name);
});

describe("help", () => {
  test("every command stands in a group, and the groups in their order", () => {
    const titles = [...mainPage.matchAll(/^(\w+):$/gm)].map(([, title]) => title);
    const order = ["Options", "Connect", "Read", "Check", "Call", "Replay", "Authorize", "Serve", "Help"];
    expect(titles).toEqual(order.filter((title) => titles.includes(title)));
    expect(commands).toEqual(expect.arrayContaining(["talk", "wrap", "unwrap", "call", "serve", "completion", "help"]));
  });

  test("every page fits 80 columns, has examples and exit codes", async () => {
    for (const command of commands) {
      const page = await parlance([command, "--help"], { COLUMNS: "80" });
      expect(page).toMatchObject({ code: 0, stderr: "" });
      expect(page.stdout).toContain(`Usage: parlance ${command}`);
      expect(page.stdout).toMatch(/Examples:\n {2}\S/);
      if (tellsExitCodes(command)) expect(page.stdout).toMatch(/^Exit codes?:/m);
      expect(tooLong(page.stdout, 80), command).toEqual([]);
    }
    expect(tooLong(mainPage, 80)).toEqual([]);
  });

  test.each(["talk", "wrap", "completion", "help"])(
    "the page of %s is the same by help and by --help",
    async (name) => {
      const width = { COLUMNS: "80" };
      expect(await parlance(["help", name], width)).toEqual(await parlance([name, "--help"], width));
    },
  );

  test("without words, the page is printed on stderr", async () => {
    expect(await parlance([], { COLUMNS: "80" })).toEqual({ code: 1, stdout: "", stderr: mainPage });
    expect(await parlance(["help"], { COLUMNS: "80" })).toEqual({ code: 0, stdout: mainPage, stderr: "" });
  });
});

/** Those that only print what is there exit as every program does. */
function tellsExitCodes(command: string): boolean {
  return !["help", "ls", "tail", "show"].includes(command);
}

/** A command line of an example is not broken: it is there to be copied. */
function tooLong(text: string, width: number): readonly string[] {
  return text.split("\n").filter((line) => line.length > width && !line.startsWith("  parlance "));
}

test.each([
  [["tlak"], "unknown command 'tlak'\n  → did you mean talk?\n"],
  [["help", "tlak"], "unknown command 'tlak'\n  → did you mean talk?\n"],
  [["frobnicate"], "unknown command 'frobnicate'\n  → parlance help lists the commands\n"],
  [["talk", "--onse"], "unknown option '--onse'\n  → did you mean --once?\n"],
  [["wrap", "--dry"], "unknown option '--dry'\n  → did you mean --dry-run?\n"],
  [["talk", "--zzz"], "unknown option '--zzz'\n  → parlance help talk shows how to write it\n"],
  [["show"], "missing required argument 'recording'\n  → parlance show [options] <recording> <n>\n"],
  [["show", "9"], "the number of a frame is missing\n  → parlance show last 9\n"],
  [
    ["check", "--answer", "accept"],
    "unknown option '--answer'\n  → check answers nothing that a tool asks: parlance run --call 'tool name=text' --answer accept does\n",
  ],
  [["proxy", "--port", "8080"], "unknown option '--port'\n  → write --listen 127.0.0.1:8080\n"],
  [["bridge", "--host", "0.0.0.0"], "unknown option '--host'\n  → write --listen http://127.0.0.1:8080/mcp\n"],
  [["serve", "--port", "8080"], "unknown option '--port'\n  → write --http 8080\n"],
  [["call", "-H", "x: y"], "unknown option '-H'\n  → write --header 'Name: value'\n"],
  [
    ["list", "--token", "x"],
    "unknown option '--token'\n  → write --bearer-env TOKEN, with the token in the variable TOKEN\n",
  ],
  [["tools", "http://localhost/mcp"], "unknown command 'tools'\n  → parlance list <target> tools\n"],
  [["inspect"], "unknown command 'inspect'\n  → parlance talk <target>, or parlance run --ui <target>\n"],
  [["call", "--timeout"], "argument missing\n  → parlance help call shows how to write it\n"],
  [["\u001b[31mx"], "unknown command '\\u{1b}[31mx'\n"],
])("the wrong word in %j is named, and the nearest one", async (args, words) => {
  const { code, stdout, stderr } = await parlance(args);
  expect(stderr).toMatch(/^✖ /);
  expect(stderr).toContain(words);
  expect(stdout).toBe("");
  expect(code).toBe(1);
});

const sequence = "\u001b[";

test.each([
  [{}, false],
  [{ FORCE_COLOR: "1" }, true],
  [{ FORCE_COLOR: "0" }, false],
  [{ FORCE_COLOR: "1", NO_COLOR: "1" }, false],
  [{ FORCE_COLOR: "1", NO_COLOR: "" }, true],
])("with %j, colours are there: %s", async (env, coloured) => {
  const outputs = await Promise.all([
    parlance(["--help"], env),
    parlance(["talk", "--once", ...toolsServer], env),
    parlance(["tlak"], env),
  ]);
  for (const { stdout, stderr } of outputs) expect((stdout + stderr).includes(sequence)).toBe(coloured);
});

test.each([
  [{}, true],
  [{ NO_COLOR: "1" }, false],
  [{ TERM: "dumb" }, false],
])("on a terminal with %j, colours are there: %s", async (env, coloured) => {
  const { FORCE_COLOR: forced, NO_COLOR: none, ...inherited } = process.env;
  const options = { env: { ...inherited, TERM: "xterm", ...env } };
  const line = [process.execPath, main, "--help"].map((word) => `'${word}'`).join(" ");
  const args = process.platform === "darwin" ? ["-q", "/dev/null", "sh", "-c", line] : ["-qec", line, "/dev/null"];
  const stdout = await new Promise<string>((resolve, reject) => {
    execFile("script", args, options, (error, text) => (error === null ? resolve(text) : reject(error)));
  });
  expect(stdout).toContain("print the version");
  expect(stdout.includes(sequence)).toBe(coloured);
});

test("what a server says moves no cursor, on whatever it is printed", async () => {
  const { stdout, stderr } = await parlance(["call", "escape", ...toolsServer]);
  const talk = await parlance(["talk", "--once", "--call", "escape", ...toolsServer]);
  const json = await parlance(["talk", "--once", "--json", "--call", "escape", ...toolsServer]);
  for (const text of [stdout, stderr, talk.stdout, json.stdout]) {
    expect(text.replaceAll("\n", "")).not.toMatch(/\p{Cc}|[\u202a-\u202e]/u);
  }
  expect(stdout).toContain("\\u{1b}[31mred");
});

test.each([
  [["talk", ...toolsServer]],
  [["call", "hello", ...toolsServer]],
  [["--help"]],
  [["completion", "zsh"]],
  [["wrap"]],
])("%j ends quietly when its output is closed", async (args) => {
  const child = spawn(process.execPath, [main, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  child.stdout.destroy();
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const [code] = await once(child, "close");
  expect(stderr).not.toMatch(/EPIPE|node:|at /);
  expect(code).toBe(0);
});

test("a reader of stderr that goes away changes nothing", async () => {
  const child = spawn(process.execPath, [main, "call", "hello", ...toolsServer], { stdio: ["ignore", "pipe", "pipe"] });
  child.stderr.destroy();
  child.stdout.resume();
  expect(await once(child, "close")).toEqual([0, null]);
});

test.runIf(process.platform === "linux")("an output that is lost is no success", async () => {
  const full = openSync("/dev/full", "w");
  for (const args of [["--help"], ["completion", "bash"], ["talk", "--once", ...toolsServer]]) {
    const child = spawn(process.execPath, [main, ...args], { stdio: ["ignore", full, "pipe"] });
    let stderr = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    expect(await once(child, "close")).toEqual([1, null]);
    expect(stderr).toContain("✖ the output cannot be written: ENOSPC");
  }
  closeSync(full);
});

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 143],
] as const)("%s ends a conversation that is still being opened, with exit code %i", async (signal, exitCode) => {
  const running = start(["talk", ...misbehaving("silent")]);
  await running.until("pid ");
  running.child.kill(signal);
  expect(await running.ended).toMatchObject({ code: exitCode, stderr: "" });
});

test.each([80, 120])("no row is wider than the %i columns there are", async (columns) => {
  const { stdout } = await parlance(["talk", "--once", "--call", "escape", ...toolsServer], {
    COLUMNS: String(columns),
  });
  expect(tooLong(stdout, columns)).toEqual([]);
  expect(stdout.split("\n").some((line) => line.length > columns - 10)).toBe(true);
});
