// Removes batches; adds elicitation, structured tool output, resource links, titles, and `_meta` on all listed items.
// https://modelcontextprotocol.io/specification/2025-06-18/changelog

import type { JsonObject } from "../json.js";
import { methods } from "../methods.js";
import { chain, each, object, within, without } from "./reshape.js";
import { type Edition, revise } from "./revision.js";
import { structureAsText } from "./structured-content.js";
import { v2025_03_26 } from "./v2025-03-26.js";

const spec = "https://modelcontextprotocol.io/specification/2025-06-18";

const linkAsText = object((block) => {
  if (block.type !== "resource_link") return block;
  const { annotations } = block;
  return { type: "text", text: describeLink(block), ...(annotations === undefined ? {} : { annotations }) };
});

function describeLink({ title, name, uri, mimeType, description }: JsonObject): string {
  const lines = [title ?? name, uri, mimeType, description].filter((line) => typeof line === "string");
  return `Resource link: ${lines.join("\n")}`;
}

const untitled = without("title", "_meta");
const undated = within("annotations", without("lastModified"));
const block = chain([linkAsText, without("_meta"), undated, within("resource", without("_meta"))]);

/** 2025-06-18 as changes to 2025-03-26. */
export const v2025_06_18: Edition = revise(v2025_03_26, "2025-06-18", {
  requests: {
    server: { added: [methods.elicit] }, // client/elicitation
  },

  facts: {
    batches: false, // changelog
    negotiation: "must", // basic/lifecycle#operation
    titles: true, // schema#tool
    itemMeta: true, // basic#meta
    metaKeys: "prefix", // basic#meta
    resourceLinks: true, // server/tools#resource-links
    structuredContent: "object", // server/tools#structured-content
    completionContext: true, // server/utilities/completion
    elicitation: "form", // client/elicitation
    httpVersionHeader: "after initialize", // basic/transports#protocol-version-header
    authorization: "resource server", // basic/authorization#authorization-server-discovery
  },

  steps: [
    {
      of: "params",
      method: methods.initialize,
      down: chain([within("clientInfo", without("title")), within("capabilities", without("elicitation"))]),
      spec: `${spec}/schema#initializerequest`,
    },
    {
      of: "result",
      method: methods.initialize,
      down: within("serverInfo", without("title")),
      spec: `${spec}/schema#initializeresult`,
    },
    {
      of: "result",
      method: methods.listTools,
      down: within("tools", each(without("title", "outputSchema", "_meta"))),
      spec: `${spec}/server/tools#tool`,
    },
    {
      of: "result",
      method: methods.callTool,
      down: chain([object(structureAsText), within("content", each(block))]),
      spec: `${spec}/server/tools#tool-result`,
    },
    {
      of: "result",
      method: methods.listResources,
      down: within("resources", each(chain([untitled, undated]))),
      spec: `${spec}/server/resources#resource`,
    },
    {
      of: "result",
      method: methods.listResourceTemplates,
      down: within("resourceTemplates", each(chain([untitled, undated]))),
      spec: `${spec}/schema#resourcetemplate`,
    },
    {
      of: "result",
      method: methods.readResource,
      down: within("contents", each(without("_meta"))),
      spec: `${spec}/server/resources#resource-contents`,
    },
    {
      of: "result",
      method: methods.listPrompts,
      down: within("prompts", each(chain([untitled, within("arguments", each(without("title")))]))),
      spec: `${spec}/server/prompts#prompt`,
    },
    {
      of: "result",
      method: methods.getPrompt,
      down: within("messages", each(within("content", block))),
      spec: `${spec}/server/prompts#promptmessage`,
    },
    {
      of: "params",
      method: methods.complete,
      down: chain([without("context"), within("ref", without("title"))]),
      spec: `${spec}/server/utilities/completion`,
    },
  ],
});
