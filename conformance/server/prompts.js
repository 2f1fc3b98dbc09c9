import { resource } from "./content.js";
import { image } from "./media.js";
import { ask } from "./questions.js";

/** @import { Server } from "@parlance/mcp/server" */

/** @param {Server} server */
export function addPrompts(server) {
  server.prompt("test_simple_prompt", { description: "A text" }, () => "This is a simple prompt for testing.");
  server.prompt(
    "test_prompt_with_arguments",
    {
      description: "A text that repeats its arguments",
      arguments: { arg1: { required: true }, arg2: { required: true } },
      complete: { arg1: ["paris", "park", "party"] },
    },
    ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
  );
  server.prompt(
    "test_prompt_with_embedded_resource",
    {
      description: "The contents of a resource, and what to do with them",
      arguments: { resourceUri: { required: true } },
    },
    ({ resourceUri }) => [
      { role: "user", content: resource(resourceUri, "text/plain", "Embedded resource content for testing.") },
      { role: "user", content: { type: "text", text: "Please process the embedded resource above." } },
    ],
  );
  server.prompt("test_prompt_with_image", { description: "An image, and what to do with it" }, () => [
    { role: "user", content: image },
    { role: "user", content: { type: "text", text: "Please analyze the image above." } },
  ]);
  server.prompt(
    "test_input_required_result_prompt",
    { description: "Asks for its context" },
    async (_args, context) => {
      const { user_context: answer } = await context.requestInput({
        user_context: ask("What context should the prompt use?", "context"),
      });
      return `Use this context: ${answer.content?.context ?? "none"}`;
    },
  );
}
