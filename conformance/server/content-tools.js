import { setTimeout as wait } from "node:timers/promises";
import { ToolError } from "@parlance/mcp/server";
import { resource } from "./content.js";
import { audio, image } from "./media.js";
import { everyKeyword } from "./schemas.js";

/** @import { Server } from "@parlance/mcp/server" */

/** Between two notifications, so that each arrives by itself. */
const pause = 50;

/**
 * Tools of which the suite looks at what they give.
 *
 * @param {Server} server
 */
export function addContentTools(server) {
  server.tool("test_simple_text", { description: "Gives a text" }, () => "This is a simple text response for testing.");
  server.tool("test_image_content", { description: "Gives an image" }, () => image);
  server.tool("test_audio_content", { description: "Gives a sound" }, () => audio);
  server.tool("test_embedded_resource", { description: "Gives the contents of a resource" }, () =>
    resource("test://embedded-resource", "text/plain", "This is an embedded resource content."),
  );
  server.tool("test_multiple_content_types", { description: "Gives a text, an image and a resource" }, () => [
    { type: "text", text: "Multiple content types test:" },
    image,
    resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
  ]);
  server.tool("test_error_handling", { description: "Fails, in words for a model" }, () => {
    throw new ToolError("This tool intentionally returns an error for testing");
  });
  const echo = { description: "Gives its arguments, whose schema uses every keyword", inputSchema: everyKeyword };
  server.tool("json_schema_2020_12_tool", echo, (args) => JSON.stringify(args));
  const region = {
    type: "object",
    properties: { region: { type: "string", "x-mcp-header": "Region" } },
    required: ["region"],
  };
  server.tool(
    "test_header_argument",
    { description: "Gives an argument that a header repeats", inputSchema: region },
    (args) => `Region: ${args.region}`,
  );
}

/**
 * Tools that tell something while they run.
 *
 * @param {Server} server
 */
export function addTellingTools(server) {
  server.tool("test_tool_with_logging", { description: "Logs three times" }, async (_args, context) => {
    context.log("info", "Tool execution started");
    await wait(pause);
    context.log("info", "Tool processing data");
    await wait(pause);
    context.log("info", "Tool execution completed");
    return "Logged three times";
  });
  server.tool("test_tool_with_progress", { description: "Tells its progress three times" }, async (_args, context) => {
    for (const progress of [0, 50, 100]) {
      context.progress(progress, 100);
      await wait(pause);
    }
    return "All done";
  });
  server.tool(
    "test_reconnection",
    { description: "Lets you go, and answers when you are back" },
    async (_args, context) => {
      context.release(pause);
      await wait(2 * pause);
      return "Welcome back";
    },
  );
  server.tool("test_logging_tool", { description: "Logs, to whoever wants to hear it" }, (_args, context) => {
    context.log("info", "Something to log");
    return "Logged";
  });
}

/**
 * Tools that change a list, of which whoever listens is told.
 *
 * @param {Server} server
 */
export function addChangingTools(server) {
  let changes = 0;
  const changing = server.tool(
    "test_trigger_tool_change",
    { description: "Changes its own description; changed 0 times" },
    () => {
      changes += 1;
      changing.update({ description: `Changes its own description; changed ${changes} times` });
      return "Changed";
    },
  );
  let prompted = 0;
  const prompt = server.prompt(
    "test_changing_prompt",
    { description: "Changed 0 times" },
    () => "Say that you changed.",
  );
  server.tool("test_trigger_prompt_change", { description: "Changes the description of a prompt" }, () => {
    prompted += 1;
    prompt.update({ description: `Changed ${prompted} times` });
    return "Changed";
  });
}
