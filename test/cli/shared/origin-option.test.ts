import { request } from "node:http";
import { describe, expect, test } from "vitest";
import { exitCodes } from "../../../packages/cli/src/shared/exit-codes.js";
import { fixture, parlance, start, toolsServer } from "../run.js";

const page = "vscode-file://vscode-app";

/** The status of a POST with this `Origin`. */
function statusOf(url: string, origin: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method: "POST",
        headers: { origin, "content-type": "application/json", accept: "application/json, text/event-stream" },
      },
      (response) => {
        response.resume();
        resolve(response.statusCode);
      },
    );
    sent.on("error", reject);
    sent.end("{}");
  });
}

/** The first URL in a line of JSON. */
async function urlOf(line: Promise<string>): Promise<string> {
  const [url] = /http:\/\/[^"]+/.exec(await line) ?? [];
  if (url === undefined) throw new Error(`no URL in ${await line}`);
  return url;
}

describe.each([
  ["serve", ["serve", fixture("tools-server.js"), "--http", "0", "--no-watch", "--json"]],
  ["serve --watch", ["serve", fixture("tools-server.js"), "--http", "0", "--watch", "--json"]],
  ["bridge", ["bridge", "--listen", "http://127.0.0.1:0/mcp", "--json", ...toolsServer]],
])("parlance %s", (_title, [command = "", ...words]) => {
  test("serves web pages of an origin that is allowed by name, and of no other", async () => {
    const running = start([command, "--allow-origin", page, ...words]);
    const url = await urlOf(running.firstLine);
    expect(await statusOf(url, page)).toBe(400); // `{}` is not a message
    expect(await statusOf(url, "https://evil.example")).toBe(403);
    running.child.kill("SIGINT");
    await running.ended;
  });
});

test.each([
  ["serve", ["serve", "server.js"], "--http"],
  ["bridge", ["bridge", ...toolsServer], "--listen http://127.0.0.1:8080/mcp"],
])(
  "parlance %s refuses the option where nothing is served over HTTP",
  async (_title, [command = "", ...words], remedy) => {
    const { code, stderr } = await parlance([command, "--allow-origin", page, ...words]);
    expect(code).toBe(exitCodes.usage);
    expect(stderr).toContain(remedy);
  },
);

test("an origin that no page has is refused", async () => {
  const { code, stderr } = await parlance(["serve", "server.js", "--http", "--allow-origin", "example.com"]);
  expect(code).toBe(exitCodes.usage);
  expect(stderr).toContain("write scheme and host");
});
