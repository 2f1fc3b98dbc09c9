import { latest } from "@parlance/mcp";
import { checkShape } from "@parlance/mcp/protocol";
import { expect, test } from "vitest";
import type { Revision } from "../../../packages/mcp/src/protocol/revisions/revision.js";
import { amendTypes, type TypeChanges } from "../../../packages/mcp/src/protocol/shapes/named-types.js";
import * as shape from "../../../packages/mcp/src/protocol/shapes/shape.js";

const { array, extending, literal, object, ref, string } = shape;

/** A revision as its author describes it: the newest one with changed types, and with other params of a notification. */
function revisionWith(changes: TypeChanges, params: shape.Shape): Revision {
  const { shapes } = latest;
  const types = amendTypes(shapes.types, changes);
  return { ...latest, shapes: { ...shapes, types, notifications: new Map([["notifications/message", params]]) } };
}

const mistakes: readonly (readonly [name: string, changes: TypeChanges, params: shape.Shape, message: string])[] = [
  ["a type that is not there", {}, ref("Jobs"), "There is no shape Jobs, which a message needs"],
  [
    "a type that contains itself",
    { A: object({ b: ref("B") }), B: array(ref("A")) },
    ref("A"),
    "The shape A contains itself: A > B",
  ],
  ["a type that extends itself", { A: extending(["A"]) }, ref("A"), "The shape A contains itself: A"],
  [
    "a base that is no object",
    { A: extending(["Role"]) },
    ref("A"),
    "The shape Role is no object, so nothing can extend it",
  ],
  [
    "a choice with the tag of another",
    { A: object({ type: literal("text") }), ContentBlock: { allows: ["A"] } },
    ref("ContentBlock"),
    "The shape A has the type text of another choice",
  ],
  [
    "a choice without a tag",
    { A: object({}), ContentBlock: { allows: ["A"] } },
    ref("ContentBlock"),
    "The shape A has no literal at type, by which it could be told from others",
  ],
  [
    "a member taken away that was never there",
    { Tool: { lacks: ["schema"] } },
    ref("Tool"),
    "The shape Tool never had schema",
  ],
  [
    "a change of a type that is not there",
    { Job: { has: { a: string } } },
    ref("Job"),
    "The shape Job is not there: it cannot be changed that way",
  ],
  [
    "members for what is no object",
    { Role: { has: { a: string } } },
    ref("Role"),
    "The shape Role is literal: it cannot be changed that way",
  ],
];

test.each(mistakes)("a mistake in the description of a revision is an error: %s", (_name, changes, params, message) => {
  const part = { of: "notification", method: "notifications/message", sender: "server" } as const;
  expect(() => checkShape(revisionWith(changes, params), part, {})).toThrow(message);
});
