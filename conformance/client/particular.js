/** @import { Client } from "@parlance/mcp/client" */

/** @typedef {{ readonly toolCalls?: readonly { readonly name: string, readonly arguments: Record<string, unknown> }[] }} Context */
/** @typedef {(client: Client, context: Context) => Promise<void>} Visit */

/**
 * The calls that a scenario needs and that do not follow from the lists of its server.
 *
 * @type {ReadonlyMap<string, Visit>}
 */
export const particular = new Map([
  ["http-custom-headers", callWhatIsSaid],
  ["json-schema-2020-12-preservation", echoSchema],
]);

/** @type {Visit} */
async function callWhatIsSaid(client, { toolCalls = [] }) {
  await client.tools.list().all();
  for (const call of toolCalls) await client.tools.call(call.name, call.arguments);
}

/** @type {Visit} */
async function echoSchema(client) {
  for (const { name, inputSchema } of await client.tools.list().all()) {
    if (name === "json_schema_2020_12_tool") await client.tools.call("json_schema_echo", { schema: inputSchema });
  }
}
