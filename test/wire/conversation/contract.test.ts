import { Conversation } from "@parlance/wire";
import { expect, test } from "vitest";
import { recorded, type Said } from "../recording/recorded.js";
import { answered, asked, heard, talkOf } from "../rules/talk.js";

function contractOf(...said: readonly Said[]): NonNullable<Conversation["sessions"][number]>["contract"] {
  const conversation = new Conversation();
  for (const entry of recorded(...said)) conversation.push(entry);
  const [session] = conversation.sessions;
  if (session === undefined) throw new Error("no session");
  return session.contract;
}

test("a contract has what both sides declared in the handshake, and what the messages use of it", () => {
  const talk = talkOf("2025-11-25");
  const contract = contractOf(
    ...talk.opening({
      client: { elicitation: {}, roots: { listChanged: true } },
      server: { tools: { listChanged: true }, prompts: {}, experimental: { tracing: {} } },
    }),
    talk.list(1),
    talk.listed(1),
    heard("notifications/tools/list_changed"),
    asked(5, "sampling/createMessage", { messages: [], maxTokens: 1 }),
    answered(5),
    asked(6, "roots/list"),
    answered(6, { roots: [] }),
  );
  expect(contract.requested).toBe("2025-11-25");
  expect(contract.negotiated).toBe("2025-11-25");
  expect([...contract.versions]).toEqual([["2025-11-25", 2]]);
  const uses = ({ capabilities }: typeof contract.client): readonly unknown[] =>
    capabilities.map(({ path, isDeclared, uses, undeclaredUse }) => [path, isDeclared, uses, undeclaredUse]);
  expect(uses(contract.server)).toEqual([
    ["experimental", true, undefined, undefined],
    ["experimental.tracing", true, undefined, undefined],
    ["prompts", true, 0, undefined],
    ["tools", true, 2, undefined],
    ["tools.listChanged", true, 1, undefined],
  ]);
  expect(uses(contract.client)).toEqual([
    ["elicitation", true, 0, undefined],
    ["roots", true, 1, undefined],
    ["roots.listChanged", true, 0, undefined],
    ["sampling", false, 1, 7],
  ]);
  expect(contract.server).toMatchObject({ name: "peer", version: "1", declaredIn: 2, changedIn: [] });
});

test("in the stateless era, each request declares the capabilities anew: a contract has where they change", () => {
  const talk = talkOf("2026-07-28");
  const declaring = (id: number, capabilities: object): Said =>
    talk.request(id, "tools/list", {
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
        "io.modelcontextprotocol/clientInfo": { name: "host", version: "3" },
      },
    });
  const { client, requested, versions } = contractOf(
    declaring(1, { elicitation: {} }),
    talk.listed(1),
    declaring(2, { elicitation: {} }),
    talk.listed(2),
    declaring(3, { sampling: {} }),
    talk.listed(3),
  );
  expect(requested).toBeUndefined();
  expect([...versions]).toEqual([["2026-07-28", 3]]);
  expect(client).toMatchObject({ name: "host", version: "3", declaredIn: 5, changedIn: [5] });
  expect(client.capabilities.map(({ path }) => path)).toEqual(["elicitation", "sampling"]);
});
