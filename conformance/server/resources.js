import { png } from "./media.js";

/** @import { Server } from "@parlance/mcp/server" */

/** @param {Server} server */
export function addResources(server) {
  server.resource(
    "test://static-text",
    { name: "Static text", description: "A text that stays as it is", mimeType: "text/plain" },
    () => "This is the content of the static text resource.",
  );
  server.resource(
    "test://static-binary",
    { name: "Static image", description: "An image that stays as it is", mimeType: "image/png" },
    () => png,
  );
  server.resource(
    "test://watched-resource",
    { name: "Watched", description: "A text to subscribe to", mimeType: "text/plain" },
    () => "Nothing has happened yet.",
  );
  server.resourceTemplate(
    "test://template/{id}/data",
    { name: "Data by id", description: "What is known of an id", mimeType: "application/json" },
    ({ id }) => JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
  );
}
