// The client that the suite starts, once for each scenario, with the URL of a server as its last argument.
import { oauth } from "@parlance/mcp/auth";
import { connect } from "@parlance/mcp/client";
import { answers } from "./client/answers.js";
import { visitEverything } from "./client/everything.js";
import { particular } from "./client/particular.js";

const {
  MCP_CONFORMANCE_SCENARIO: scenario = "",
  MCP_CONFORMANCE_PROTOCOL_VERSION: revision = "",
  MCP_CONFORMANCE_CONTEXT: context = "{}",
} = process.env;
const url = process.argv.at(-1) ?? "";

const given = JSON.parse(context);
const auth = oauth({
  clientName: "conformance",
  clientMetadataUrl: "https://conformance-test.local/client-metadata.json",
  ...(given.client_id === undefined ? {} : { clientId: given.client_id }),
  ...(given.client_secret === undefined ? {} : { clientSecret: given.client_secret, issuer: given.issuer }),
  redirectUrl: "http://127.0.0.1:8765/callback",
  authorize: approved,
});

const client = await connect(new URL(url), { revision, handlers: answers, auth });
try {
  const visit = particular.get(scenario) ?? visitEverything;
  await visit(client, given);
} finally {
  await client.close();
}

/**
 * The authorization servers of the suite redirect at once, without a user.
 *
 * @param {URL} authorization
 */
async function approved(authorization) {
  const { headers } = await fetch(authorization, { redirect: "manual" });
  return headers.get("location") ?? "";
}
