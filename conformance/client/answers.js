import { valueFor } from "./value-for.js";

/** @import { InputHandlers } from "@parlance/mcp/client" */

/**
 * A person who agrees to everything and fills in what they must, and a model that always says the same.
 *
 * @type {InputHandlers}
 */
export const answers = {
  elicitation: ({ requestedSchema }) => ({ action: "accept", content: valueFor(requestedSchema) }),
  urlElicitation: () => ({ action: "accept" }),
  sampling: () => ({ role: "assistant", model: "parrot", content: { type: "text", text: "Hello" } }),
  roots: [{ uri: "file:///conformance", name: "conformance" }],
};
