/** @import { Client } from "@parlance/mcp/client" */

/**
 * All that a client has: `revision`, `call`, `tools.call` and so on.
 *
 * @param {Client} client
 */
export function verbsOf(client) {
  const groups = Object.entries(client).flatMap(([name, group]) => membersOf(group).map((verb) => `${name}.${verb}`));
  return [...membersOf(client), ...groups];
}

/** @param {object} object */
function membersOf(object) {
  return Object.getOwnPropertyNames(Object.getPrototypeOf(object)).filter((name) => name !== "constructor");
}
