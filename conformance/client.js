// The client that the suite starts, once for each scenario, with the URL of a server as its last argument.
import { connect } from "@parlance/mcp/client";
import { answers } from "./client/answers.js";
import { authorizationFor } from "./client/authorization.js";
import { visitEverything } from "./client/everything.js";
import { particular } from "./client/particular.js";

const {
  MCP_CONFORMANCE_SCENARIO: scenario = "",
  MCP_CONFORMANCE_PROTOCOL_VERSION: revision = "",
  MCP_CONFORMANCE_CONTEXT: context = "{}",
} = process.env;
const url = process.argv.at(-1) ?? "";

const given = JSON.parse(context);
const auth = await authorizationFor(scenario, given, url);

const client = await connect(new URL(url), { revision, handlers: answers, auth });
try {
  const visit = particular.get(scenario) ?? visitEverything;
  await visit(client, given);
} finally {
  await client.close();
}
