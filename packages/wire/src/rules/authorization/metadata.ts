import { describeValue } from "@parlance/mcp/protocol";
import { originOf } from "../../conversation/exchange.js";
import { resourceSuffix, serverSuffixes } from "../../conversation/sign-in.js";
import { authorization, byEra, onSecurity } from "../citations.js";
import type { Clause, Rule } from "../rule.js";
import { documentIn, hasAuthorization, hasChallengedScopes, isResourceServer } from "./access.js";

const discovery = `${authorization}/authorization-server-discovery`;

const identicalResource =
  "The resource value returned MUST be identical to the protected resource's resource identifier value into which the well-known URI path suffix was inserted to create the URL used to retrieve the metadata.";

/** The rules on the metadata of the server and of its authorization server. */
export const metadataRules: readonly Rule[] = [
  {
    id: "AU-4",
    level: "must",
    party: "server",
    steps: ["resource-metadata"],
    demands: "The Protected Resource Metadata has the URL of the server as its resource",
    applies: isResourceServer,
    sentence: identicalResource,
    page: "https://www.rfc-editor.org/rfc/rfc9728#section-3.3",
    on: "body",
    *check(reading, { signIns: { server } }) {
      const { resource } = documentIn(reading) ?? {};
      const url = reading.exchange?.request.url ?? "";
      if (resource === undefined || originOf(url) === "") return;
      const asked = splitUrl(url, resourceSuffix);
      // A client that came here from a challenge compares with the URL of the server.
      const identifiers = [...(server === undefined ? [] : [server]), asked];
      if (typeof resource === "string" && identifiers.some((each) => isSameUrl(each, resource))) return;
      // MCP allows the metadata of a server with a path at the root, where the path is unknown.
      const isAtRoot = server === undefined && isSameUrl(asked, originOf(url));
      if (isAtRoot && typeof resource === "string" && originOf(resource) === originOf(url)) return;
      yield {
        says: `\`resource\` is ${describeValue(resource)}, expected ${describeValue(identifiers[0])}`,
        pointer: "/resource",
        ...(typeof resource === "string" && covers(resource, server ?? asked) && { by: coveringResource }),
      };
    },
  },
  {
    id: "AU-5",
    level: "must",
    party: "server",
    steps: ["resource-metadata"],
    demands: "The Protected Resource Metadata names an authorization server",
    applies: isResourceServer,
    sentence:
      "The Protected Resource Metadata document returned by the MCP server MUST include the `authorization_servers` field containing at least one authorization server.",
    page: byEra(`${authorization}#authorization-server-location`, `${discovery}#authorization-server-location`),
    on: "body",
    *check(reading) {
      const document = documentIn(reading);
      if (document === undefined) return;
      const { authorization_servers: servers } = document;
      if (!Array.isArray(servers) || !servers.some((each) => typeof each === "string"))
        yield { says: `\`authorization_servers\` is ${describeValue(servers)}`, pointer: "/authorization_servers" };
    },
  },
  {
    id: "AU-6",
    level: "must",
    party: "server",
    steps: ["server-metadata"],
    demands: "The metadata of an authorization server has the issuer that they were asked for",
    applies: hasAuthorization,
    sentence: byEra(
      'The "issuer" value returned MUST be identical to the authorization server\'s issuer identifier value into which the well-known URI string was inserted to create the URL used to retrieve the metadata.',
      "the `issuer` value in the document MUST be identical to the issuer identifier used to construct the well-known URL.",
    ),
    page: byEra(
      "https://www.rfc-editor.org/rfc/rfc8414#section-3.3",
      `${discovery}#authorization-server-metadata-discovery`,
    ),
    on: "body",
    *check(reading) {
      const document = documentIn(reading);
      const url = reading.exchange?.request.url ?? "";
      if (document === undefined || originOf(url) === "") return;
      const { issuer } = document;
      const asked = splitUrl(url, serverSuffixes.find((suffix) => url.includes(suffix)) ?? "");
      if (typeof issuer === "string" && isSameUrl(asked, issuer)) return;
      yield { says: `\`issuer\` is ${describeValue(issuer)}, expected ${describeValue(asked)}`, pointer: "/issuer" };
    },
  },
  {
    id: "AU-7",
    level: "must",
    party: "server",
    steps: ["server-metadata"],
    demands: "OpenID provider metadata say which methods of PKCE are supported",
    applies: hasChallengedScopes,
    sentence:
      "Authorization servers providing OpenID Connect Discovery 1.0 MUST include `code_challenge_methods_supported` in their metadata to ensure MCP compatibility.",
    page: onSecurity("authorization-code-protection"),
    on: "body",
    *check(reading) {
      const document = documentIn(reading);
      if (document === undefined || !reading.exchange?.request.url?.includes("/openid-configuration")) return;
      if (!Array.isArray(document.code_challenge_methods_supported))
        yield { says: "`code_challenge_methods_supported` is missing" };
    },
  },
];

const coveringResource: Clause = {
  level: "must",
  sentence: identicalResource,
  page: "https://www.rfc-editor.org/rfc/rfc9728#section-3.3",
  doubt: "it covers the server, and clients of MCP accept that",
};

/** The identifier into which a well-known suffix was inserted, or to which it was appended. */
function splitUrl(url: string, suffix: string): string {
  const [before = "", after = ""] = url.replace(/#.*$/s, "").split(suffix);
  return before + after;
}

/**
 * Whether two URLs are equal apart from a trailing slash, which is removed before a suffix is inserted and so cannot be known.
 */
function isSameUrl(one: string, other: string): boolean {
  return one.replace(/\/$/, "") === other.replace(/\/$/, "");
}

function covers(resource: string, server: string): boolean {
  return originOf(resource) !== "" && `${server}/`.startsWith(resource.endsWith("/") ? resource : `${resource}/`);
}
