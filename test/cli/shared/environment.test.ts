import { expect, test } from "vitest";
import { missingVariableRemedy } from "../../../packages/cli/src/shared/client/url-failure.js";
import { RecordingFolder } from "../../wire/recording/recording-folder.js";
import { fixture, parlance } from "../run.js";

/** Starts the well-behaved server if a variable is there, as many servers do with the key of their service. */
const needsKey = `
  if (process.env.WEATHER_API_KEY !== "abc") {
    console.error("Error: WEATHER_API_KEY environment variable is required");
    process.exit(1);
  }
  import(${JSON.stringify(fixture("tools-server.js"))}).then(({ server }) =>
    import("@parlance/mcp/node").then(({ serveStdio }) => serveStdio(server)))`;
const server = ["--", process.execPath, "-e", needsKey];
const shell = { WEATHER_API_KEY: "abc" };
const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

test.each([
  [["call", "hello"]],
  [["list"]],
  [["talk", "--once"]],
  [["run", "--once"]],
  [["doctor"]],
  [["check", "--revision", "2025-11-25", "--fail-on", "damage"]],
  [["send", "--open", "--line", ping]],
])("%j gives the server every variable of the shell", async (args) => {
  using folder = new RecordingFolder();
  const { code, stderr } = await parlance([...args, ...server], { ...shell, ...folder.env });
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining("WEATHER_API_KEY") });
});

test.each([[["call", "hello"]], [["run", "--once"]], [["doctor"]], [["check"]]])(
  "where the variable is missing, the advice of %j names --env",
  async (args) => {
    using folder = new RecordingFolder();
    const { code, stdout, stderr } = await parlance([...args, ...server], folder.env);
    expect(`${stdout}${stderr}`.replaceAll(/\s+/g, " ")).toContain(
      "→ the server needs the variable WEATHER_API_KEY: --env WEATHER_API_KEY=<value> gives it",
    );
    expect(code).toBe(3);
  },
);

test("--env adds a variable, and wins over that of the shell", async () => {
  const args = ["call", "--env", "WEATHER_API_KEY=abc", "hello", ...server];
  expect(await parlance(args, { WEATHER_API_KEY: "old" })).toMatchObject({ code: 0, stdout: "hello\nthere\n" });
});

test("help says which variables a command gets", async () => {
  const { stdout } = await parlance(["doctor", "--help"], { COLUMNS: "80" });
  expect(stdout.replaceAll(/\s+/g, " ")).toContain("it has all variables of this shell, and those of --env");
});

test.each([
  ["Missing required environment variable: SLACK_BOT_TOKEN", "SLACK_BOT_TOKEN"],
  ["KeyError: 'NOTION_API_KEY'", "NOTION_API_KEY"],
  ["ValueError: GITHUB_PERSONAL_ACCESS_TOKEN not set", "GITHUB_PERSONAL_ACCESS_TOKEN"],
  ["ERR_MODULE_NOT_FOUND: Cannot find module", undefined],
  ["Error [ERR_MODULE_NOT_FOUND]: it is required by server.js", undefined],
  ["listening on 127.0.0.1", undefined],
  ["PATH is required", undefined],
])("of %j the variable is found", (line, name) => {
  expect(missingVariableRemedy(["starting", line])).toEqual(
    name === undefined ? undefined : expect.stringContaining(`--env ${name}=`),
  );
});
