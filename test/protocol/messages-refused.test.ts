import {
  type Messages,
  type Method,
  messagesOf,
  methods,
  notifications,
  type Revision,
  revisions,
} from "@parlance/mcp/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { NotificationMethod } from "../../packages/mcp/src/protocol/methods.js";
import { assertOfficial } from "./shapes/official.js";

// Values that TypeScript rejects: in each case a message is valid, or it is refused.

interface Untyped {
  request(id: unknown, method: string, params?: unknown): unknown;
  notification(method: string, params?: unknown): unknown;
}

function untyped(version: string): Untyped {
  return messagesOf(version) as Messages as Untyped;
}

const senders = ["client", "server"] as const;

function sendersOf(revision: Revision, kind: "requests" | "notifications", method: string): readonly string[] {
  return senders.filter((sender) => revision[kind][sender].has(method));
}

const anything = fc.anything({ withNullPrototype: true, withDate: true });

describe.each(revisions)("in $version", (revision) => {
  const messages = untyped(revision.version);
  const sent = (kind: "requests" | "notifications", all: readonly string[]): readonly string[] =>
    all.filter((method) => sendersOf(revision, kind, method).length > 0);
  const requests = sent("requests", Object.values<Method>(methods));
  const told = sent("notifications", Object.values<NotificationMethod>(notifications));

  test.each([null, [], [1, 2], "abc", 5, true].map((params) => ({ params })))(
    "params are never $params",
    ({ params }) => {
      for (const method of requests) {
        expect(() => messages.request(1, method, params)).toThrow(
          new RegExp(`^${method} in ${revision.version}: params must be an object, got `),
        );
      }
      for (const method of told) {
        expect(() => messages.notification(method, params)).toThrow(
          new RegExp(`^${method} in ${revision.version}: params must be an object, got `),
        );
      }
    },
  );

  test.each([null, [], "abc", 5].map((meta) => ({ meta })))("a _meta is never $meta", ({ meta }) => {
    for (const method of requests) {
      expect(() => messages.request(1, method, { _meta: meta })).toThrow("/_meta must be an object, got ");
    }
    for (const method of told) {
      expect(() => messages.notification(method, { _meta: meta })).toThrow("/_meta must be an object, got ");
    }
  });

  test("whatever else is given, what is made is valid as JSON", () => {
    const given = fc.oneof(
      anything,
      fc.dictionary(fc.constantFrom("_meta", "cursor", "name", "uri", "taskId"), anything),
    );
    fc.assert(
      fc.property(given, (params) => {
        for (const method of requests) judge("requests", method, () => messages.request(1, method, params));
        for (const method of told) judge("notifications", method, () => messages.notification(method, params));
      }),
      { numRuns: 50 },
    );
  });

  // https://www.rfc-editor.org/rfc/rfc3986#section-3: what follows the scheme may be empty.
  test.runIf(revision.requests.client.has(methods.readResource))("a URI may be a scheme alone", () => {
    judge("requests", methods.readResource, () => messages.request(1, methods.readResource, { uri: "A:" }));
    expect(() => messages.request(1, methods.readResource, { uri: "A" })).toThrow("/uri must be a URI");
  });

  function judge(kind: "requests" | "notifications", method: string, make: () => unknown): void {
    let made: unknown;
    try {
      made = make();
    } catch (error) {
      expect(error).toBeInstanceOf(TypeError);
      return;
    }
    const frame: unknown = JSON.parse(JSON.stringify(made));
    expect(made).toEqual(frame);
    for (const sender of sendersOf(revision, kind, method)) assertOfficial(revision.version, sender as "client", frame);
  }
});

test.each([null, undefined, true, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, {}])(
  "a request with the id %s is refused",
  (id) => {
    expect(() => untyped("2025-11-25").request(id, "ping")).toThrow(
      /^ping in 2025-11-25: id must be a string or a safe integer, got /,
    );
  },
);

test("a number that JSON has no word for is refused where it stands", () => {
  expect(() =>
    messagesOf("2025-11-25").notification("notifications/progress", { progressToken: 1, progress: Number.NaN }),
  ).toThrow("notifications/progress in 2025-11-25: /progress must be a number, got null");
});

test("a message stays as it is when what it was made of changes", () => {
  const given = { name: "add", arguments: { a: 1 } };
  const message = messagesOf("2025-11-25").request(1, "tools/call", given);
  given.arguments.a = 2;
  expect(message.params).toEqual({ name: "add", arguments: { a: 1 } });
});

test("a place with a name that cannot be seen is named visibly", () => {
  const properties = { "\u001b[31m": { type: "x" } };
  const params = { mode: "form", message: "Who?", requestedSchema: { type: "object", properties } };
  expect(() => untyped("2025-11-25").request(1, "elicitation/create", params)).toThrow(
    "/requestedSchema/properties/\\u{1b}[31m/type must be ",
  );
});
