// A client on version 1 of the official SDK that is asked for a token, gets one from an authorization server that asks nobody,
// and explores the server in its argument.
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { capabilities, explore } from "./explore.js";

const [url] = process.argv.slice(2);
const redirectUrl = "http://localhost:8090/callback";
const kept = {};
let code;

const authProvider = {
  redirectUrl,
  clientMetadata: {
    client_name: "sdk-v1",
    redirect_uris: [redirectUrl],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "client_secret_post",
  },
  clientInformation: () => kept.client,
  saveClientInformation(client) {
    kept.client = client;
  },
  tokens: () => kept.tokens,
  saveTokens(tokens) {
    kept.tokens = tokens;
  },
  saveCodeVerifier(verifier) {
    kept.verifier = verifier;
  },
  codeVerifier: () => kept.verifier,
  async redirectToAuthorization(address) {
    const { headers } = await fetch(address, { redirect: "manual" });
    code = new URL(headers.get("location")).searchParams.get("code");
  },
};

const client = () => new Client({ name: "sdk-v1", version: "1.0.0" }, { capabilities });
const first = new StreamableHTTPClientTransport(new URL(url), { authProvider });
try {
  await client().connect(first);
} catch (error) {
  if (!(error instanceof UnauthorizedError)) throw error;
  await first.finishAuth(code);
}
const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider });
const known = client();
await known.connect(transport);
const explored = await explore(known, (params, options) => known.callTool(params, undefined, options));
await transport.terminateSession();
await known.close();
console.log(JSON.stringify({ ...explored, authorized: kept.tokens !== undefined }));
