import { valueFor } from "./value-for.js";

/** @import { Answers } from "@parlance/mcp/client" */

/**
 * A person who agrees to everything and fills in what they must, and a model that always says the same.
 *
 * @type {Answers}
 */
export const answers = {
  elicit: ({ requestedSchema }) => ({ action: "accept", content: valueFor(requestedSchema) }),
  visit: () => ({ action: "accept" }),
  sample: () => ({ role: "assistant", model: "parrot", content: { type: "text", text: "Hello" } }),
  roots: [{ uri: "file:///conformance", name: "conformance" }],
};
