import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { fixture, parlance, toolsServer } from "./run.js";

test.concurrent("the version is that of the package", async () => {
  const { version } = JSON.parse(readFileSync(new URL("../../packages/cli/package.json", import.meta.url), "utf8")) as {
    readonly version: string;
  };
  expect(await parlance(["--version"])).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
});

test.concurrent.each([
  [["tlak"], "unknown command 'tlak'\n  → did you mean talk?"],
  [["talk"], "there is no target"],
  [["talk", "a", "--", "b"], "there are two targets"],
  [["talk", "--"], "there is no command to start"],
  [["list", "--", "--json", "node", "server.js"], "--json is no command that could be started"],
  [["talk", "node 'server.js"], "a quote is not closed"],
  [["talk", "--onse", "x"], "unknown option '--onse'"],
  [["talk", "--revision", "2025-11-26", "x"], "It must be one of 2026-07-28, 2025-11-25,"],
  [["talk", "--timeout", "0", "x"], "Write it as 500ms, 10s or 2m"],
  [["talk", "--env", "=x", "x"], "Write NAME=value"],
  [["call", "node x"], 'there is no tool to call\n  → parlance call "node x" <tool>\n'],
  [["call"], "there is no tool to call\n  → parlance call <tool> -- node server.js\n"],
  [["read", "http://localhost/mcp"], "there is no resource to read\n  → parlance read http://localhost/mcp <uri>\n"],
  [
    ["send", '{"id":1}', "--header", "x-api-key: k", "http://localhost/mcp"],
    "the message stands where the target is\n  → parlance send <target> <message>\n",
  ],
  [["call", "node x", "tool", "word"], "word is not an argument"],
  [["call", "node x", "tool", "a=1", "a=2"], "the argument a is given twice"],
  [["list", "tools"], "parlance list tools -- node server.js"],
  [
    ["list", "tools", "http://localhost/mcp"],
    "the target comes before tools\n  → parlance list http://localhost/mcp tools\n",
  ],
  [["call", "add", "node x.js", "a=1"], 'the target comes before add\n  → parlance call "node x.js" add a=1\n'],
  [
    ["read", "notes://1", "http://localhost/mcp"],
    "the target comes before notes://1\n  → parlance read http://localhost/mcp notes://1\n",
  ],
  [["read", "notes", "./server.js"], "the target comes before notes\n  → parlance read ./server.js notes\n"],
  [["list", "node x", "tolls"], "did you mean tools?"],
  [
    ["call", "add", "a=1", "http://localhost:1/mcp"],
    "/mcp is not an argument\n  → the target comes before the name of the tool",
  ],
  [
    ["call", "add", "--", "http://localhost:1/mcp"],
    "a URL, and after -- comes a command\n  → write the URL first, without --",
  ],
])("the wrong command line %j is refused", async (args, words) => {
  const { code, stdout, stderr } = await parlance(args);
  expect(stderr).toMatch(/^✖ /);
  expect(stderr).toContain(words);
  expect(stdout).toBe("");
  expect(code).toBe(1);
});

test.concurrent.each([
  [["talk", "no/such/file.js"], "there is no file no/such/file.js"],
  [["talk", fixture("misbehaving-server.js")], "misbehaving-server.js cannot be imported: "],
  [["talk", fixture("../../packages/mcp/dist/protocol.js")], "exports no server, neither as `server` nor as default"],
])("the target %j cannot be reached", async (args, words) => {
  const { code, stdout, stderr } = await parlance(args);
  expect(stderr).toContain(words);
  expect(stdout).toBe("");
  expect(code).toBe(3);
});

test.concurrent("colours come with FORCE_COLOR, and go with NO_COLOR", async () => {
  const args = ["talk", "--once", ...toolsServer];
  const start = "\u001b[";
  expect((await parlance(args)).stdout).not.toContain(start);
  expect((await parlance(args, { FORCE_COLOR: "1" })).stdout).toContain(start);
  expect((await parlance(args, { FORCE_COLOR: "1", NO_COLOR: "1" })).stdout).not.toContain(start);
});
