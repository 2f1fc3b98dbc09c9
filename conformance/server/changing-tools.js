/** @import { Server } from "@parlance/mcp/server" */

/**
 * Tools that change a list, of which whoever listens is told.
 *
 * @param {Server} server
 */
export function addChangingTools(server) {
  let changes = 0;
  const changed = () => {
    changes += 1;
    return { description: `Changes: ${changes} so far` };
  };
  const tool = server.tool("test_trigger_tool_change", changed(), () => {
    tool.update(changed());
    return "This tool is another";
  });
  const prompt = server.prompt("test_changing_prompt", changed(), () => "Say that you changed.");
  server.tool("test_trigger_prompt_change", { description: "Changes a prompt" }, () => {
    prompt.update(changed());
    return "A prompt is another";
  });
}
