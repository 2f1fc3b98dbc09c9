import { handshakeVersions } from "@parlance/mcp";
import {
  checkShape,
  codeReadings,
  messagesOf,
  methods,
  notifications,
  revisionOf,
  revisions,
} from "@parlance/mcp/protocol";
import { rules } from "@parlance/wire";
import { expect, test } from "vitest";
import { leaving, probes } from "../../../packages/cli/src/commands/check/examination/examine.js";
import { explain, topics } from "../../../packages/cli/src/commands/explain/explain.js";
import { spanText } from "../../../packages/cli/src/commands/explain/explanation.js";
import { exampleOf, requestNotes } from "../../../packages/cli/src/commands/explain/messages.js";
import { ruleExamples } from "../../../packages/cli/src/commands/explain/rules.js";
import { opening, type Said } from "../../wire/recording/recorded.js";
import { readAll } from "../../wire/rules/rule-case.js";
import { talkOf } from "../../wire/rules/talk.js";
import { jsonLines, parlance } from "../run.js";

test("a method is explained with its sender, its revisions, its capability, an exchange and the specification", async () => {
  const { code, stdout, stderr } = await parlance(["explain", "resources/subscribe"]);
  expect(stdout).toBe(`resources/subscribe · a request of the client
  Subscribes to the updates of a resource
  in        2024-11-05 to 2025-11-25
  needs     the capability resources.subscribe of the server
  at fault  the sender, if the revision does not allow it: the error is −32601
  client →  {"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"file:///a.txt"}}
  server ←  {"jsonrpc":"2.0","id":1,"result":{}}
  https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions
`);
  expect(stderr).toBe("");
  expect(code).toBe(0);
});

test("a code is explained in every meaning, and by its range in JSON-RPC", async () => {
  const { code, stdout } = await parlance(["explain", "-32002"]);
  expect(stdout).toMatch(/^-32002 · ResourceNotFound, of the MCP specification\n/);
  expect(stdout).toContain("\n\n-32002 · ToolExecutionFailed, as in tutorials: not in the specification\n");
  expect(stdout).toContain("  instead   A result with isError: true, which the model can read\n");
  expect(stdout).toContain("  JSON-RPC  Reserved for implementation-defined server errors (server error)\n");
  expect(code).toBe(0);
});

test.each(["-32601", "32601", "−32601", "MethodNotFound", "method not found"])("%s is the same code", async (word) => {
  expect(explain(word).explanations.map(({ name }) => name)).toEqual(["-32601"]);
});

test("a code without a name is explained by its range", () => {
  expect(explain("42").explanations).toMatchObject([{ name: "42", says: "Defined by the application that sent it" }]);
  expect(explain("-32050").explanations).toMatchObject([
    { name: "-32050", title: expect.stringContaining("Reserved") },
  ]);
});

test.each([
  ["401", "As an HTTP status, 401 says: the server requires a token, or refuses the one it got"],
  ["404", "As an HTTP status, 404 says: there is no such path, or the session has ended"],
  ["405", "As an HTTP status, 405 says: the endpoint does not have this HTTP method"],
])("%s is explained as an HTTP status, too", async (word, words) => {
  const { code, stdout } = await parlance(["explain", word], { COLUMNS: "160" });
  expect(stdout.startsWith(words), stdout).toBe(true);
  expect(stdout).toContain(`\n\n${word} · `);
  expect(code).toBe(0);
});

test.each([
  [
    "listChanged",
    [
      "notifications/tools/list_changed",
      "notifications/prompts/list_changed",
      "notifications/resources/list_changed",
      "notifications/roots/list_changed",
    ],
  ],
  ["tools.listChanged", ["notifications/tools/list_changed"]],
  ["sampling", ["sampling/createMessage"]],
  ["logging", ["logging/setLevel", "notifications/message"]],
])("the capability %s is explained by its messages", (word, names) => {
  const { remark, explanations } = explain(word);
  expect(remark).toContain(`${word} is a capability`);
  expect(explanations.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
});

test.each(["list_changed", "listchanged"])("%s leads to the capability", (word) => {
  expect(explain(word).explanations.map(({ name }) => name)).toContain("notifications/tools/list_changed");
});

test("a loose name leads to the explanation of the right one", async () => {
  const { code, stdout } = await parlance(["explain", "resources/get"]);
  expect(stdout).toMatch(/^resources\/get is in no revision: did you mean resources\/read\?/);
  expect(stdout).toContain("\n\nresources/read · a request of the client\n");
  expect(code).toBe(0);
});

test("a revision is explained by its additions and removals", async () => {
  const { stdout } = await parlance(["explain", "2026-07-28"], { COLUMNS: "160" });
  expect(stdout).toContain("  since     2025-11-25\n");
  expect(stdout).toContain(
    "  adds      server/discover, subscriptions/listen, notifications/subscriptions/acknowledged\n",
  );
  expect(stdout).toMatch(/removes {3}initialize, ping,/);
  expect(stdout).toContain("/2026-07-28/changelog\n");
});

test("a rule is explained with its requirement, the side that it binds, and the sentence of the specification", async () => {
  const { code, stdout } = await parlance(["explain", "s-2"]);
  expect(stdout).toBe(`S-2 · a requirement of the protocol
  A server writes nothing but messages to stdout
  in        every revision
  looks at  the bytes of a frame
  at fault  its sender
  to mend   Write logs to stderr: stdout belongs to messages, also for libraries and for what starts
            the server
  code      console.error("ready"); // not console.log
  MUST      “The server MUST NOT write anything to its \`stdout\` that is not a valid MCP message.”
  server ←  Server listening on port 3000
  https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
`);
  expect(code).toBe(0);
});

test("a rule whose sentence differs by revision is explained with each sentence and its level", () => {
  const [explained] = explain("R-4").explanations;
  const page = (version: string): string => `https://modelcontextprotocol.io/specification/${version}/basic#requests`;
  expect(explained).toMatchObject({
    sentences: [
      { versions: ["2026-07-28"], level: "must", text: expect.stringMatching(/^The request ID MUST NOT match/) },
      { versions: handshakeVersions.toSorted(), level: "must", text: expect.stringMatching(/within the same session/) },
    ],
    spec: [page("2026-07-28"), page("2025-11-25")],
  });
});

test("a probe is explained with its requirement, its transports, and its sentence", () => {
  const [explained] = explain("xh-5").explanations;
  expect(explained).toMatchObject({
    topic: "probe",
    name: "XH-5",
    title: "a requirement of the protocol",
    facts: [
      { label: "in", text: "2025-03-26 to 2025-11-25" },
      { label: "over", text: "HTTP" },
      { label: "to mend", text: expect.stringContaining("404") as unknown },
    ],
    sentences: [
      {
        level: "must",
        text: expect.stringContaining("MUST respond to requests containing that session ID") as unknown,
      },
    ],
    spec: ["https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management"],
  });
  expect(explain("XS-1").explanations).toMatchObject([
    {
      facts: [
        {},
        { label: "over", text: "stdio" },
        {},
        { label: "code", text: expect.stringContaining("'end'") as unknown },
      ],
    },
  ]);
});

test("a recommendation, and a rule that no sentence requires, are explained as notes", async () => {
  const [recommended, informs] = [
    (await parlance(["explain", "L-3"])).stdout,
    (await parlance(["explain", "I-7"])).stdout,
  ];
  expect(recommended).toContain("L-3 · a recommendation of the protocol, and a note if it is not followed\n");
  expect(recommended).toContain("  SHOULD    “The server SHOULD NOT send requests other than pings and logging");
  expect(recommended).not.toContain("at fault");
  expect(informs).toContain("I-7 · information: a note, not a violation\n");
  expect(informs).toContain("  note      no sentence requires it\n");
});

/** The frames before an example, so that only its rule is broken. */
function before(id: string, first: string): readonly Said[] {
  const isWhole = first.includes('"initialize"') || id === "L-1";
  const rule = rules.find((each) => each.id === id);
  const isStateless = !revisions.some(({ version, era }) => {
    const revision = revisionOf(version);
    return era === "handshake" && revision !== undefined && (rule?.applies?.(revision) ?? true);
  });
  if (isStateless) return talkOf("2026-07-28").opening();
  return isWhole ? [] : opening("2025-11-25", { server: { tools: {} } });
}

/** Rules that cannot be broken alone. */
const besides: ReadonlyMap<string, readonly string[]> = new Map([
  ["S-5", ["R-5"]],
  ["N-2", ["M-5"]],
  ["C-4", ["C-3"]],
]);

test.each(Object.entries(ruleExamples))("the example of %s breaks that rule", (id, wire) => {
  const lines = wire.map(({ from, raw }): Said => (from === "client" ? `→ ${raw}` : `← ${raw}`));
  const { verdicts } = readAll([...before(id, lines[0] ?? ""), ...lines]);
  const broken = new Set(
    verdicts.filter(({ level, rule }) => level === "must" || rule.id === id).map(({ rule }) => rule.id),
  );
  expect([...broken].toSorted()).toEqual([id, ...(besides.get(id) ?? [])].toSorted());
});

test("what a server now asks inside of a result is said so", () => {
  const [{ facts = [] } = {}] = explain("sampling/createMessage").explanations;
  expect(facts).toContainEqual({
    label: "inside",
    text: "2026-07-28: sent in a result of type input_required instead",
  });
});

test("an unknown word names the nearest, and is a wrong command line", async () => {
  const { code, stdout, stderr } = await parlance(["explain", "tools/cal"]);
  expect(stderr).toBe(
    "✖ tools/cal is unknown\n  → did you mean tools/call?\n  → parlance explain, without a word, lists everything\n",
  );
  expect(stdout).toBe("");
  expect(code).toBe(1);
});

test("without a word everything is listed, and everything that is listed is known", async () => {
  const { code, stdout } = await parlance(["explain"]);
  for (const { topic, names } of topics) {
    for (const name of names) {
      expect(stdout).toContain(name);
      expect(explain(name).explanations[0]).toMatchObject({ topic, name });
    }
  }
  expect(code).toBe(0);
  const [listed] = jsonLines((await parlance(["explain", "--json"])).stdout);
  expect(listed).toEqual(Object.fromEntries(topics.map(({ topic, names }) => [topic, names])));
});

test("--json has the same for programs", async () => {
  const { stdout } = await parlance(["explain", "--json", "ping"]);
  expect(jsonLines(stdout)).toMatchObject([
    {
      word: "ping",
      explanations: [
        {
          topic: "request",
          name: "ping",
          facts: { in: "2024-11-05 to 2025-11-25" },
          wire: [
            { from: "client", raw: '{"jsonrpc":"2.0","id":1,"method":"ping"}' },
            { from: "server", raw: '{"jsonrpc":"2.0","id":1,"result":{}}' },
          ],
        },
      ],
    },
  ]);
});

test("every example of an answer has the shape of its revision", () => {
  for (const [method, { result }] of Object.entries(requestNotes)) {
    const version = revisions.findLast(({ requests }) => requests.client.has(method) || requests.server.has(method));
    if (version === undefined) throw new Error(`${method} is in no revision`);
    const sender = version.requests.client.has(method) ? "client" : "server";
    expect({ method, faults: checkShape(version, { of: "result", method, sender }, result) }).toEqual({
      method,
      faults: [],
    });
  }
});

test("every example of a message is one of its method", () => {
  for (const method of [...Object.values(methods), ...Object.values(notifications)]) {
    const [{ wire = [], spec = [] } = {}] = explain(method).explanations;
    const version = /specification\/([\d-]+)\//.exec(spec[0] ?? "")?.[1] ?? "";
    expect(revisionOf(version)).toBeDefined();
    expect(exampleOf(method, messagesOf(version)).method).toBe(method);
    expect(JSON.parse(wire[0]?.raw ?? "").method).toBe(method);
  }
});

test("every code that has a name says whose fault it is", () => {
  for (const { code } of codeReadings) {
    for (const { name, facts } of explain(String(code)).explanations) {
      if (code === -32_000) continue; // What it means, only its sender can say.
      expect({ name, fault: facts.find(({ label }) => label === "at fault")?.text }).not.toMatchObject({
        fault: expect.stringContaining("only the documentation"),
      });
    }
  }
});

test.each([
  [["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"], "every revision"],
  [["2026-07-28"], "2026-07-28"],
  [["2026-07-28", "2025-11-25"], "2025-11-25 and later"],
  [["2024-11-05", "2025-03-26"], "2024-11-05 to 2025-03-26"],
  [["2024-11-05", "2025-06-18"], "2024-11-05, 2025-06-18"],
  [[], "none"],
])("%j is said as %s", (versions, words) => {
  expect(spanText(versions)).toBe(words);
});

test("every rule and probe tells how a program is mended, apart from notes on what may be as it is meant", () => {
  const without = [...rules, ...probes, leaving].filter(({ id }) =>
    explain(id).explanations.every(({ facts }) => facts.every(({ label }) => label !== "to mend")),
  );
  expect(without.map(({ id }) => id)).toEqual(["I-5", "I-6", "I-7"]);
});

test("a code after --, as other programs take what begins like an option, is explained too", async () => {
  const { stdout } = await parlance(["explain", "--", "-32002"]);
  expect(stdout).toBe((await parlance(["explain", "-32002"])).stdout);
});

test("several words are explained one after the other, and none of them if one is unknown", async () => {
  const [both, one, other, json, wrong] = await Promise.all([
    parlance(["explain", "R-5", "XS-1"]),
    parlance(["explain", "R-5"]),
    parlance(["explain", "XS-1"]),
    parlance(["explain", "--json", "R-5", "--", "-32602"]),
    parlance(["explain", "R-5", "R-500"]),
  ]);
  expect(both.stdout).toBe(`${one.stdout}\n${other.stdout}`);
  expect(jsonLines(json.stdout).map(({ word }) => word)).toEqual(["R-5", "-32602"]);
  expect([wrong.code, wrong.stdout, wrong.stderr]).toEqual([1, "", expect.stringContaining("R-500 is unknown")]);
});
