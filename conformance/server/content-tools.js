import { ToolError } from "@parlance/mcp/server";
import { resource } from "./content.js";
import { audio, image } from "./media.js";
import { everyKeyword, objectOf } from "./schemas.js";

/** @import { Server } from "@parlance/mcp/server" */

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
  const inputSchema = objectOf({ region: { type: "string", "x-mcp-header": "Region" } });
  server.tool(
    "test_header_argument",
    { description: "Gives an argument that a header repeats", inputSchema },
    ({ region }) => `Region: ${region}`,
  );
}
