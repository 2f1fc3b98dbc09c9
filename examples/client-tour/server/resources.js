/** @import { Server } from "@parlance/mcp/server" */

const towers = new Map([
  ["Pisa", "It leans."],
  ["Paris", "It stands upright."],
  ["Pharos", "It fell."],
]);

/** @param {Server} server */
export function addResources(server) {
  server.resource("sights:/welcome", { name: "welcome", mimeType: "text/plain" }, () => "Mind the step.");
  server.resource("sights:/dot.gif", { name: "dot", mimeType: "image/gif" }, () => new Uint8Array([71, 73, 70]));

  const tower = {
    name: "tower",
    complete: { city: [...towers.keys()] },
    list: () => [...towers.keys()].map((city) => ({ uri: `sights:/towers/${city}`, name: city })),
  };
  server.resourceTemplate("sights:/towers/{city}", tower, ({ city }) => towers.get(city));
}
