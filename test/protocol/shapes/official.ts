import { type Message, type Problem, serverLimits } from "@parlance/mcp/jsonrpc";
import { checkShape, type Revision, revisionOf } from "@parlance/mcp/protocol";
import { checkMessage } from "../../../packages/mcp/src/jsonrpc/codec/decode.js";
import { mcpProfile } from "../../../packages/mcp/src/jsonrpc/profile.js";
import type { MessagePart } from "../../../packages/mcp/src/protocol/revisions/shapes.js";
import { hasSchema } from "../revisions/published.js";
import { expectationOf, problemsIn } from "./oracle.js";
import { definitionsOf, problemsOf, refTo } from "./schemas.js";

/** Who sends a message. */
export type Sender = "client" | "server";

/**
 * Holds a whole JSON-RPC message, or a batch of them, against the shapes of a revision and against its published
 * schema; against the shapes alone where the schemas are not there.
 * @param answered the method of the request that the message answers, if it is a result
 */
export function assertOfficial(version: string, sender: Sender, message: unknown, answered?: string): void {
  const found = complaints(version, sender, message, answered);
  if (found.length > 0) throw new Error(`${JSON.stringify(message)} from the ${sender}\n${found.join("\n")}`);
}

function complaints(version: string, sender: Sender, message: unknown, answered?: string): readonly string[] {
  if (Array.isArray(message) && revision(version).facts.batches) {
    return message.flatMap((element) => complaints(version, sender, element, answered));
  }
  const problem = checkMessage(message, mcpProfile, serverLimits);
  if (problem !== undefined) return [describeProblem(problem)];
  const checked = message as Message; // `checkMessage` found no problem.
  const [part, value] = partOf(checked, sender, answered);
  const faults = checkShape(revision(version), part, value);
  const ours = faults.map(({ pointer, expected, received }) => `${pointer}: expected ${expected}, got ${received}`);
  return hasSchema(version) && ours.length === 0 ? published(version, checked, part, value) : ours;
}

function describeProblem({ pointer, reason }: Problem): string {
  return `${pointer}: ${reason}`;
}

function partOf(message: Message, sender: Sender, answered: string | undefined): [part: MessagePart, value: unknown] {
  if ("method" in message) {
    const { method, params } = message;
    return [{ of: "id" in message ? "params" : "notification", method, sender }, params];
  }
  if ("error" in message) return [{ of: "error" }, message.error];
  if (answered === undefined) throw new Error("a result cannot be judged without the method that it answers");
  return [{ of: "result", method: answered, sender: otherSide(sender) }, message.result];
}

/** The published schema of the whole message, and of the part that depends on the method. */
function published(version: string, message: Message, part: MessagePart, value: unknown): readonly string[] {
  const candidates =
    "method" in message
      ? ["id" in message ? "JSONRPCRequest" : "JSONRPCNotification"]
      : "error" in message
        ? ["JSONRPCError", "JSONRPCErrorResponse"]
        : ["JSONRPCResultResponse", "JSONRPCResponse"];
  const [envelope = ""] = candidates.filter((name) => name in definitionsOf(version));
  const whole = problemsOf(version, refTo(version, envelope), message);
  return part.of === "error" ? whole : [...whole, ...problemsIn(version, expectationOf(version, part), value)];
}

function revision(version: string): Revision {
  const found = revisionOf(version);
  if (found === undefined) throw new Error(`there is no revision ${version}`);
  return found;
}

function otherSide(sender: Sender): Sender {
  return sender === "client" ? "server" : "client";
}
