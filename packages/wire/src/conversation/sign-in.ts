import { isObject, type JsonObject } from "@parlance/mcp/protocol";
import type { HttpEntry } from "../recording/entry.js";
import type { Frame } from "../recording/frame.js";
import type { HttpExchange, SignInStep } from "./message.js";

/** The path of Protected Resource Metadata (RFC 9728 §3). */
export const resourceSuffix = "/.well-known/oauth-protected-resource";

/** The paths of the metadata of authorization servers (RFC 8414 §3, OpenID Connect Discovery §4). */
export const serverSuffixes = ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"] as const;

/**
 * The step of a sign-in that a request begins; undefined for any other request. Call it only for requests that do not go to the
 * MCP endpoint.
 *
 * @param body the body of the request, if it was recorded
 */
export function signInStepOf({ method, url = "", headers = [] }: HttpEntry, body?: Frame): SignInStep | undefined {
  const path = url.replace(/[?#].*$/s, "");
  if (path.includes(resourceSuffix)) return "resource-metadata";
  if (serverSuffixes.some((suffix) => path.includes(suffix))) return "server-metadata";
  if (method === "GET") {
    const parameters = parametersOf(url);
    if (parameters.has("response_type") || parameters.has("request_uri")) return "authorization";
    const isResponse = parameters.has("code") || parameters.has("error");
    return isResponse && (parameters.has("state") || parameters.has("iss")) ? "redirect" : undefined;
  }
  if (headers.some(([name, value]) => name.toLowerCase() === "content-type" && isForm(value)))
    return body !== undefined && formOf(body).has("grant_type") ? "token" : "other";
  const value = body?.json.value;
  return isObject(value) && "redirect_uris" in value && !("jsonrpc" in value) ? "registration" : undefined;
}

function isForm(type: string): boolean {
  return type.toLowerCase().startsWith("application/x-www-form-urlencoded");
}

/** The parameters in the query of a URL. */
export function parametersOf(url: string): URLSearchParams {
  return new URLSearchParams(/\?([^#]*)/.exec(url)?.[1] ?? "");
}

const decoder = new TextDecoder();

/** The parameters of a form. */
export function formOf({ bytes }: Frame): URLSearchParams {
  return new URLSearchParams(decoder.decode(bytes));
}

/** The sign-ins of one session: metadata and requests so far. */
export class SignIns {
  /** The URL of the MCP server, from the header of the recording. */
  readonly server: string | undefined;
  #metadata: JsonObject | undefined;
  #authorization: URLSearchParams | undefined;

  constructor(server: string | undefined) {
    this.server = server;
  }

  /** The metadata of the latest authorization server. */
  get metadata(): JsonObject | undefined {
    return this.#metadata;
  }

  /** The parameters of the last authorization request. */
  get authorization(): URLSearchParams | undefined {
    return this.#authorization;
  }

  /** Takes a body after it was judged. */
  takeBody({ signIn, response }: HttpExchange, { from, json: { value } }: Frame): void {
    if (signIn === "server-metadata" && from === "server" && response?.status === 200 && isObject(value))
      this.#metadata = value;
  }

  /** Takes an exchange after it was judged. */
  takeExchange({ signIn, request: { url = "" } }: HttpExchange): void {
    if (signIn === "authorization") this.#authorization = parametersOf(url);
  }
}
