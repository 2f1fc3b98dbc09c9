import type { InputHandlers } from "@parlance/mcp/client";
import { describe, expect, test } from "vitest";
import { failure, modern, notification, parse, success } from "../../testing/frames.js";
import { turn } from "../../testing/talks.js";
import { errorOf, type Opened, openWith } from "../session/openings.js";

const core = "2025-11-25";
const done = { content: [{ type: "text", text: "done" }] };

/** A URL elicitation of the server. */
function page(elicitationId: string): object {
  return { mode: "url", message: "Log in", url: `https://example.com/${elicitationId}`, elicitationId };
}

/** A person who visits what they are shown. */
function visitor(seen: string[], action: "accept" | "decline" = "accept"): InputHandlers {
  return {
    urlElicitation({ url }) {
      seen.push(url);
      return { action };
    },
  };
}

/** The error of a server that requires these URL elicitations first. */
async function want({ peer }: Opened, ...elicitations: readonly object[]): Promise<void> {
  const { id = "", method } = parse(await peer.next());
  expect(method).toBe("tools/call");
  peer.send(failure(id, -32_042, "URL elicitation required", { elicitations }));
  await turn();
}

async function give({ peer }: Opened): Promise<void> {
  const { id = "", params } = parse(await peer.next());
  expect(params).toEqual({ name: "t", arguments: { a: 1 } });
  peer.send(success(id, done));
}

function complete({ peer }: Opened, elicitationId: string): void {
  peer.send(notification("notifications/elicitation/complete", { elicitationId }));
}

describe("a call whose server requires URL elicitations first", () => {
  test("is made again as soon as the server reports that they are", async () => {
    const seen: string[] = [];
    await using open = await openWith(core, { handlers: visitor(seen) });
    const call = open.client.tools.call("t", { a: 1 });
    await want(open, page("1"), page("2"));
    expect(seen).toEqual(["https://example.com/1", "https://example.com/2"]);
    complete(open, "2");
    complete(open, "other");
    await turn();
    const before = open.sent.length;
    complete(open, "1");
    await turn();
    expect(open.sent).toHaveLength(before + 1);
    await give(open);
    expect(await call).toEqual(done);
  });

  test("is not made again before the server reports it, and no page is shown twice", async () => {
    const seen: string[] = [];
    await using open = await openWith(core, { handlers: visitor(seen) });
    const call = open.client.tools.call("t", { a: 1 });
    await want(open, page("1"));
    const before = open.sent.length;
    open.clock.advance(100_000);
    await turn();
    expect(open.sent).toHaveLength(before);
    complete(open, "1");
    await want(open, page("1"), page("2"));
    complete(open, "2");
    await give(open);
    expect(await call).toEqual(done);
    expect(seen).toEqual(["https://example.com/1", "https://example.com/2"]);
  });

  test.each<[string, InputHandlers]>([
    ["a person does not want to", visitor([], "decline")],
    ["this client has no way to ask a person", {}],
  ])("fails as the server said if %s", async (_, answers) => {
    await using open = await openWith(core, { handlers: answers });
    const call = errorOf(open.client.tools.call("t", { a: 1 }));
    await want(open, page("1"));
    expect(await call).toMatchObject({ code: -32_042, data: { elicitations: [{ elicitationId: "1" }] } });
  });

  test.each<[string, readonly object[]]>([
    ["nothing", []],
    [
      "a form",
      [{ mode: "form", message: "Who?", elicitationId: "1", requestedSchema: { type: "object", properties: {} } }],
    ],
    ["a page without an id", [{ mode: "url", message: "Go", url: "https://example.com" }]],
    ["a page that is a script", [{ ...page("1"), url: "javascript:alert(1)" }]],
    ["more than a person looks at", Array.from({ length: 11 }, (_, at) => page(String(at)))],
  ])("fails as the server said if it names %s", async (_, elicitations) => {
    const seen: string[] = [];
    await using open = await openWith(core, {
      handlers: { ...visitor(seen), elicitation: () => ({ action: "cancel" }) },
    });
    const call = errorOf(open.client.tools.call("t", { a: 1 }));
    await want(open, ...elicitations);
    expect(await call).toMatchObject({ code: -32_042 });
    expect(seen).toEqual([]);
  });

  test("fails with the error of the server if it requires more and more of them", async () => {
    const seen: string[] = [];
    await using open = await openWith(core, { handlers: visitor(seen) });
    const call = errorOf(open.client.tools.call("t", { a: 1 }));
    for (const round of [1, 2]) {
      await want(open, ...Array.from({ length: 6 }, (_, at) => page(`${round}-${at}`)));
      for (let at = 0; at < 6; at += 1) complete(open, `${round}-${at}`);
      await turn();
    }
    expect(await call).toMatchObject({ code: -32_042 });
    expect(seen).toHaveLength(6);
  });

  test("waits no longer than its caller, and leaves no listener", async () => {
    await using open = await openWith(core, { handlers: visitor([]) });
    const call = errorOf(open.client.tools.call("t", { a: 1 }, { totalTimeout: 1_000 }));
    await want(open, page("1"));
    open.clock.advance(1_000);
    expect(await call).toMatchObject({ reason: "timeout" });
    await turn();
    expect(open.clock.armed).toBe(0);
  });

  test("is one of the revision that has such an error: elsewhere it is an error as any other", async () => {
    for (const version of ["2025-06-18", modern]) {
      await using open = await openWith(version, { handlers: visitor([]) });
      const call = errorOf(open.client.tools.call("t", { a: 1 }));
      await want(open, page("1"));
      expect(await call).toMatchObject({ code: -32_042 });
    }
  });
});
