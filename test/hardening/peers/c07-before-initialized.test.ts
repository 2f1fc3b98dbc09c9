import { describeReport } from "@parlance/mcp/jsonrpc";
import { describe, expect, test } from "vitest";
import { sessionPost } from "../../http/server/asked.js";
import { doors } from "../../http/server/handlers.js";
import { initialize, initialized, parse, request } from "../../testing/frames.js";
import { echoServer, echoTool } from "../../testing/servers.js";
import { talkTo, turn } from "../../testing/talks.js";

const list = request(1, "tools/list");
const reported = 'accepted "tools/list": it came before notifications/initialized, which a client sends first';

describe.each(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])(
  "C7: a request before notifications/initialized in %s",
  (version) => {
    test("is served, and reported once", async () => {
      await using talk = talkTo(echoServer());
      await talk.ask(initialize(version));
      expect(parse(await talk.ask(list)).result).toEqual({ tools: [echoTool] });
      expect(parse(await talk.ask(request(2, "tools/list"))).result).toEqual({ tools: [echoTool] });
      expect(talk.reports).toEqual([reported]);
    });

    test("opens the operation: changes of lists are sent from then on, and the late notification does nothing", async () => {
      const server = echoServer();
      await using talk = talkTo(server);
      await talk.ask(initialize(version));
      await talk.ask(list);
      talk.peer.send(initialized);
      server.tool("added", {}, () => "");
      expect(parse(await talk.peer.next())).toMatchObject({ method: "notifications/tools/list_changed" });
    });
  },
);

test.each(doors)(
  "C7: a POST that overtakes notifications/initialized is served over HTTP, on $on",
  async ({ open }) => {
    const reports: string[] = [];
    await using door = await open(echoServer(), { report: (each) => void reports.push(describeReport(each)) });
    const opened = await door.ask({ body: initialize("2025-11-25") });
    const session = opened.headers.get("mcp-session-id") ?? "";
    const listed = await door.ask(sessionPost(session, list));
    expect(parse(listed.body).result).toEqual({ tools: [echoTool] });
    expect((await door.ask(sessionPost(session, initialized))).status).toBe(202);
    expect(reports).toEqual([reported]);
    await door.ask({ method: "DELETE", headers: { "mcp-session-id": session } });
  },
);

test("C7: what comes while initialize is answered waits for that answer, in order", async () => {
  let meet = (): void => undefined;
  const server = echoServer();
  const met = new Promise<typeof server>((resolve) => {
    meet = () => resolve(server);
  });
  await using talk = talkTo({ ...server, serverFor: () => met });
  for (const frame of [initialize("2025-11-25"), initialized, list]) talk.peer.send(frame);
  await turn();
  meet();
  expect(parse(await talk.peer.next()).result?.protocolVersion).toBe("2025-11-25");
  expect(parse(await talk.peer.next()).result).toEqual({ tools: [echoTool] });
  expect(talk.reports).toEqual([]);
});
