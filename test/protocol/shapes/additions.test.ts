import { latest } from "@parlance/mcp";
import { checkShape } from "@parlance/mcp/protocol";
import { describe, expect, test } from "vitest";
import { type ShapeAdditions, shapesOf } from "../../../packages/mcp/src/protocol/revisions/shapes.js";
import * as shape from "../../../packages/mcp/src/protocol/shapes/shape.js";

const { array, boolean, extending, literal, map, object, optional, ref, string } = shape;

// An extension as its author states it: requests of its own, one more result for a request of the protocol, one more
// member of a filter.
const jobs: ShapeAdditions = {
  types: {
    Job: object({ jobId: string, status: literal("working", "completed") }),
    JobResult: extending(["Result", "Job"], { resultType: literal("job") }),
    CallToolOutcome: { allows: ["JobResult"] },
    SubscriptionFilter: { has: { jobIds: optional(array(string)) } },
    JobParams: extending(["RequestParams"], { jobId: string }),
  },
  requests: {
    client: { "jobs/get": { params: ref("JobParams"), result: extending(["Result", "Job"]) } },
  },
  notifications: {
    server: { "notifications/jobs": extending(["NotificationParams", "Job"]) },
  },
};

const meta = {
  "io.modelcontextprotocol/protocolVersion": latest.version,
  "io.modelcontextprotocol/clientCapabilities": {},
};

describe("an extension", () => {
  const shapes = shapesOf(latest, [jobs]);

  test("adds requests and notifications, each from its side", () => {
    const get = { of: "params", method: "jobs/get", sender: "client" } as const;
    expect(shapes.check(get, { jobId: "1", _meta: meta })).toEqual([]);
    expect(shapes.check(get, { _meta: meta })).toEqual([
      { pointer: "/jobId", expected: "a string", received: "nothing" },
    ]);
    const result = { ...get, of: "result" } as const;
    expect(shapes.check(result, { resultType: "complete", jobId: "1", status: "idle" })).toEqual([
      { pointer: "/status", expected: '"working" or "completed"', received: '"idle"' },
    ]);
    const told = { of: "notification", method: "notifications/jobs", sender: "server" } as const;
    expect(shapes.check(told, { jobId: "1", status: "working" })).toEqual([]);
    expect(shapes.check({ ...told, sender: "client" }, {})).toHaveLength(1);
  });

  test("adds a result to a request of the protocol, and a member to a type", () => {
    const called = { of: "result", method: "tools/call", sender: "client" } as const;
    expect(shapes.check(called, { resultType: "job", jobId: "1", status: "working" })).toEqual([]);
    expect(shapes.check(called, { resultType: "task" })).toEqual([
      { pointer: "/resultType", expected: '"complete", "input_required" or "job"', received: '"task"' },
    ]);
    const listen = { of: "params", method: "subscriptions/listen", sender: "client" } as const;
    expect(shapes.check(listen, { notifications: { jobIds: [1] }, _meta: meta })).toEqual([
      { pointer: "/notifications/jobIds/0", expected: "a string", received: "1" },
    ]);
  });

  test("changes nothing for who does not use it", () => {
    expect(checkShape(latest, { of: "params", method: "jobs/get", sender: "client" }, {})).toHaveLength(1);
    const called = { of: "result", method: "tools/call", sender: "client" } as const;
    expect(checkShape(latest, called, { resultType: "job", jobId: "1", status: "working" })).toHaveLength(1);
  });

  test("replaces a request of the protocol", () => {
    const params = object({ _meta: ref("RequestMetaObject"), dry: boolean });
    const dry = { requests: { client: { "tools/list": { params, result: map(string) } } } };
    const part = { of: "params", method: "tools/list", sender: "client" } as const;
    expect(shapesOf(latest, [jobs, dry]).check(part, { _meta: meta })).toEqual([
      { pointer: "/dry", expected: "a boolean", received: "nothing" },
    ]);
  });
});

describe("a mistake in an extension is reported at once", () => {
  const cases: readonly (readonly [name: string, additions: ShapeAdditions, message: string])[] = [
    [
      "a type that is not there",
      { notifications: { server: { n: ref("Jobs") } } },
      "There is no shape Jobs, which a message needs",
    ],
    [
      "a type that contains itself",
      { types: { A: object({ b: ref("B") }), B: array(ref("A")) }, notifications: { server: { n: ref("A") } } },
      "The shape A contains itself: A > B",
    ],
    [
      "a type that extends itself",
      { types: { A: extending(["A"]) }, notifications: { server: { n: ref("A") } } },
      "The shape A contains itself: A",
    ],
    [
      "a base that is no object",
      { types: { A: extending(["Role"]) }, notifications: { server: { n: ref("A") } } },
      "The shape Role is no object, so nothing can extend it",
    ],
    [
      "a choice with the tag of another",
      { types: { A: object({ type: literal("text") }), ContentBlock: { allows: ["A"] } } },
      "The shape A has the type text of another choice",
    ],
    [
      "a choice without a tag",
      { types: { A: object({}), ContentBlock: { allows: ["A"] } } },
      "The shape A has no literal at type, by which it could be told from others",
    ],
    [
      "a member taken away that was never there",
      { types: { Tool: { lacks: ["schema"] } } },
      "The shape Tool never had schema",
    ],
    [
      "a change of a type that is not there",
      { types: { Job: { has: { a: string } } } },
      "The shape Job is not there: it cannot be changed that way",
    ],
    [
      "members for what is no object",
      { types: { Role: { has: { a: string } } } },
      "The shape Role is literal: it cannot be changed that way",
    ],
  ];

  test.each(cases)("%s", (_name, additions, message) => {
    expect(() => shapesOf(latest, [additions])).toThrow(message);
  });
});
