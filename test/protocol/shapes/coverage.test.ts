import { checkShape, methods, notifications, revisions } from "@parlance/mcp/protocol";
import { describe, expect, test } from "vitest";
import { partsOf } from "./oracle.js";

const senders = ["client", "server"] as const;

describe.each(revisions)("$version", (revision) => {
  test.each(partsOf(revision))("says what the $of of $method from the $sender look like", (part) => {
    // Nothing that is known takes a number.
    const [fault] = checkShape(revision, part, 5);
    expect(fault).toEqual({ pointer: "", expected: expect.stringMatching(/^an object|a task$/), received: "5" });
  });

  test("knows no other request", () => {
    for (const sender of senders) {
      const sent = new Set([...revision.requests[sender], ...(sender === "server" ? revision.inputRequests : [])]);
      for (const method of [...Object.values(methods), "constructor", "tools/call ", ""].filter(
        (one) => !sent.has(one),
      )) {
        const expected = `a request that the ${sender} may send in ${revision.version}`;
        const faults = [{ pointer: "", expected, received: JSON.stringify(method) }];
        expect(checkShape(revision, { of: "params", method, sender }, {})).toEqual(faults);
        expect(checkShape(revision, { of: "result", method, sender }, {})).toEqual(faults);
      }
    }
  });

  test("knows no other notification", () => {
    for (const sender of senders) {
      const sent = revision.notifications[sender];
      for (const method of [...Object.values(notifications), "__proto__"].filter((one) => !sent.has(one))) {
        const expected = `a notification that the ${sender} may send in ${revision.version}`;
        expect(checkShape(revision, { of: "notification", method, sender }, {})).toEqual([
          { pointer: "", expected, received: JSON.stringify(method) },
        ]);
      }
    }
  });
});
