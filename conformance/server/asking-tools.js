import { inputRequired } from "@parlance/mcp/server";
import { ask, prompt, textOf } from "./questions.js";
import { formOfChoices, formOfDefaults, objectOf } from "./schemas.js";

/** @import { Server } from "@parlance/mcp/server" */

/**
 * Tools that ask the client while they run.
 *
 * @param {Server} server
 */
export function addAskingTools(server) {
  const sampling = { description: "Asks a model", inputSchema: objectOf({ prompt: { type: "string" } }) };
  server.tool("test_sampling", sampling, async (args, context) => {
    const { answer } = await context.requestInput({ answer: prompt(String(args.prompt), 100) });
    return `LLM response: ${textOf(answer)}`;
  });
  const elicitation = { description: "Asks who you are", inputSchema: objectOf({ message: { type: "string" } }) };
  server.tool("test_elicitation", elicitation, async (args, context) => {
    const { action, content } = await context.elicit(String(args.message), person);
    return `User response: action=${action}, content=${JSON.stringify(content ?? {})}`;
  });
  server.tool("test_elicitation_sep1034_defaults", { description: "Asks with defaults" }, async (_args, context) =>
    completed(await context.elicit("Is all of this right?", formOfDefaults)),
  );
  server.tool("test_elicitation_sep1330_enums", { description: "Asks for choices" }, (_args, { inputResponses }) => {
    // A question as it stands: a form of `elicit` has titles where this one has the names of older revisions.
    const params = { mode: "form", message: "What do you choose?", requestedSchema: formOfChoices };
    return "choices" in inputResponses
      ? completed(inputResponses.choices)
      : inputRequired({ choices: { method: "elicitation/create", params } });
  });
  server.tool("test_missing_capability", { description: "Cannot do without a model" }, async (_args, context) => {
    const { answer } = await context.requestInput({ answer: prompt("Say anything", 100) });
    return textOf(answer);
  });
  server.tool(
    "test_streaming_elicitation",
    { description: "Tells its progress, then asks" },
    async (_args, context) => {
      context.progress(1, 2, "about to ask");
      const { answer } = await context.requestInput({ answer: ask("Go on?", "confirmed", "boolean") });
      return `You said: ${answer.action}`;
    },
  );
}

const person = objectOf({
  username: { type: "string", description: "How you want to be called" },
  email: { type: "string", format: "email", description: "Where to write to you" },
});

/** @param {unknown} answer */
function completed(answer) {
  const { action, content } = /** @type {{ action: string, content?: unknown }} */ (answer);
  return `Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`;
}
