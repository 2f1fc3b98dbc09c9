import { RpcError } from "../../jsonrpc/errors.js";
import { specCodes } from "../../protocol/errors.js";
import { decodeHeaderValue } from "../../protocol/header-values.js";
import { mcpHeaders, namedBy } from "../../protocol/http-headers.js";
import type { JsonObject } from "../../protocol/json.js";
import { methods } from "../../protocol/methods.js";
import { isMirrored } from "../../protocol/mirrored-params.js";
import type { Servable } from "../../server/servable.js";
import type { HttpRequest } from "./request.js";

// Proxies may route and filter by these headers, so they must match the body.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#request-metadata

/** @throws RpcError −32020 if header and body have different revisions */
export function requireSameVersion(request: HttpRequest, claimed: string | undefined): void {
  const version = request.header(mcpHeaders.protocolVersion);
  if (version !== undefined && claimed !== undefined && version !== claimed)
    throw mismatch("MCP-Protocol-Version", "is not the protocolVersion of the body");
}

/** @throws RpcError −32020 if a header is missing or does not match the body */
export function requireStandardHeaders(request: HttpRequest, method: string, params: JsonObject): void {
  if (request.header(mcpHeaders.protocolVersion) === undefined) throw mismatch("MCP-Protocol-Version", "is missing");
  requireEqual("Mcp-Method", request.header(mcpHeaders.method), method, "the method of the body");
  const member = namedBy.get(method);
  const name = member === undefined ? undefined : params[member];
  // The validation of the params reports other types.
  if (member === undefined || typeof name !== "string") return;
  const header = request.header(mcpHeaders.name);
  const told = header === undefined ? undefined : decodeHeaderValue(header);
  if (header !== undefined && told === undefined)
    throw mismatch("Mcp-Name", "is marked as encoded, but is not UTF-8 in base64");
  requireEqual("Mcp-Name", told, name, `params.${member}`);
}

/** @throws RpcError −32020 if the header of a mirrored argument does not match it */
export function requireParameterHeaders(
  request: HttpRequest,
  served: Servable,
  method: string,
  params: JsonObject,
): void {
  if (method !== methods.callTool) return;
  for (const mirrored of served.mirroredParams(params.name)) {
    const header = request.header(mirrored.header.toLowerCase());
    if (isMirrored(mirrored, params.arguments, header)) continue;
    throw mismatch(mirrored.header, `does not mirror the argument ${mirrored.path.join(".")}`);
  }
}

function requireEqual(name: string, told: string | undefined, said: string, where: string): void {
  if (told === undefined) throw mismatch(name, "is missing");
  if (told !== said) throw mismatch(name, `is not ${where}`);
}

function mismatch(header: string, what: string): RpcError {
  return new RpcError(specCodes.headerMismatch, "Header mismatch", { header, reason: `${header} ${what}` });
}
