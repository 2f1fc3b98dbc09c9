import { claim, modern, request } from "../../../testing/frames.js";
import { type AskedHeaders, sessionPost, statelessCall, statelessPost } from "../asked.js";
import type { Row } from "./row.js";

const call = (headers: AskedHeaders): Row["asked"] => statelessCall("echo", { text: "no" }, headers);
const route = (args: object, headers: AskedHeaders): Row["asked"] => statelessCall("route", args, headers);
const mismatch = (name: string, asked: Row["asked"], says: string): Row => {
  return { name, asked, status: 400, code: -32_020, says, id: 1 };
};
const named = "Mcp-Name is not params.name";

/** Requests of the stateless era whose headers and body do not agree, or that leave out what they must say. */
export const headerRows: readonly Row[] = [
  mismatch("no version in the header", call({ "mcp-protocol-version": undefined }), "MCP-Protocol-Version is missing"),
  mismatch(
    "another version in the header",
    call({ "mcp-protocol-version": "2025-11-25" }),
    "MCP-Protocol-Version is not",
  ),
  mismatch(
    "two versions in the header",
    call({ "mcp-protocol-version": `${modern}, ${modern}` }),
    "MCP-Protocol-Version is not",
  ),
  mismatch("no method in the header", call({ "mcp-method": undefined }), "Mcp-Method is missing"),
  mismatch(
    "another method in the header",
    call({ "mcp-method": "tools/list" }),
    "Mcp-Method is not the method of the body",
  ),
  mismatch("the method in another case", call({ "mcp-method": "Tools/Call" }), "Mcp-Method is not"),
  mismatch(
    "a method in base64, which only names may be",
    call({ "mcp-method": "=?base64?dG9vbHMvY2FsbA==?=" }),
    "Mcp-Method is not",
  ),
  mismatch("no name in the header", call({ "mcp-name": undefined }), "Mcp-Name is missing"),
  mismatch("an empty name in the header", call({ "mcp-name": "" }), named),
  mismatch("another name in the header", call({ "mcp-name": "route" }), named),
  mismatch("the name in another case", call({ "mcp-name": "ECHO" }), named),
  mismatch("two names in the header", call({ "mcp-name": "echo, echo" }), named),
  mismatch("another name in base64", call({ "mcp-name": "=?base64?cm91dGU=?=" }), named),
  ...["=?base64?ZWNobw?=", "=?base64?ZWNo bw==?=", "=?base64?ZWNobx==?=", "=?base64?_-8=?=", "=?base64?/w==?="].map(
    (value) =>
      mismatch(
        `a name that is no base64 of UTF-8: ${value}`,
        call({ "mcp-name": value }),
        "Mcp-Name is marked as encoded, but is not UTF-8 in base64",
      ),
  ),
  mismatch("a name whose mark is in another case", call({ "mcp-name": "=?BASE64?ZWNobw==?=" }), named),
  mismatch("a name with half of the marks", call({ "mcp-name": "=?base64?ZWNobw==" }), named),
  mismatch(
    "another URI in the header",
    statelessPost("resources/read", { uri: "a:1" }, { "mcp-name": "a:2" }),
    "Mcp-Name is not params.uri",
  ),
  mismatch(
    "an argument without its header",
    route({ region: "eu" }, {}),
    "Mcp-Param-Region does not mirror the argument region",
  ),
  mismatch("a header without its argument", route({}, { "mcp-param-region": "eu" }), "Mcp-Param-Region"),
  mismatch("another argument in the header", route({ region: "eu" }, { "mcp-param-region": "us" }), "Mcp-Param-Region"),
  mismatch("an argument in another case", route({ region: "eu" }, { "mcp-param-region": "EU" }), "Mcp-Param-Region"),
  mismatch(
    "an argument that is no base64",
    route({ region: "eu" }, { "mcp-param-region": "=?base64?ZX?=" }),
    "Mcp-Param-Region",
  ),
  mismatch(
    "two arguments in one header",
    route({ region: "eu" }, { "mcp-param-region": "eu, eu" }),
    "Mcp-Param-Region",
  ),
  mismatch("another number in the header", route({ count: 42 }, { "mcp-param-count": "43" }), "Mcp-Param-Count"),
  mismatch("a number in an unusual spelling", route({ count: 42 }, { "mcp-param-count": "0x2A" }), "Mcp-Param-Count"),
  {
    name: "a header that names the stateless era, and a body that claims nothing",
    asked: { headers: { "mcp-protocol-version": modern, "mcp-method": "tools/list" }, body: request(1, "tools/list") },
    status: 400,
    code: -32_602,
    says: '"path":"/_meta"',
    id: 1,
  },
  ...Object.keys(claim).map((key) => ({
    name: `no ${key} in _meta`,
    asked: statelessPost("tools/list", {}, {}, { meta: { [key]: undefined } }),
    status: 400,
    code: -32_602,
    id: 1,
  })),
  {
    name: "an unknown version, in header and body",
    asked: statelessPost(
      "tools/list",
      {},
      { "mcp-protocol-version": "1900-01-01" },
      { meta: { "io.modelcontextprotocol/protocolVersion": "1900-01-01" } },
    ),
    status: 400,
    code: -32_022,
    says: '"requested":"1900-01-01"',
    id: 1,
  },
  { name: "an unknown method", asked: statelessPost("acme/none"), status: 404, code: -32_601, id: 1 },
  ...["initialize", "ping", "logging/setLevel", "resources/subscribe"].map((method) => ({
    name: `${method}, which this era does not have`,
    asked: statelessPost(method, { uri: "a:1" }, { "mcp-name": undefined }),
    status: 404,
    code: -32_601,
    id: 1,
  })),
  {
    name: "a call that needs what its client has not declared",
    asked: statelessCall("ask"),
    status: 400,
    code: -32_021,
    says: '"requiredCapabilities":{"elicitation"',
    id: 1,
  },
  {
    name: "a request that speaks for itself, in a session, without its headers",
    asked: ({ session }) => sessionPost(session, request(3, "tools/list", { _meta: claim })),
    status: 400,
    code: -32_020,
    id: 3,
  },
];
