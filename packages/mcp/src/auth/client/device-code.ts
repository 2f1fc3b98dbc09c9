import {
  type AuthorizationServer,
  type DeviceAuthorizationResponse,
  deviceAuthorizationRequest,
  deviceCodeGrantRequest,
  processDeviceAuthorizationResponse,
  processDeviceCodeResponse,
  type TokenEndpointResponse,
} from "oauth4webapi";
import { checkMembers, type MembersOf, requireFunction } from "../../base/check-members.js";
import { systemClock } from "../../base/clock.js";
import type { MaybePromise } from "../../base/maybe-promise.js";
import type { HttpAuthorization } from "../../http/client/http-target.js";
import { thrownText } from "../../jsonrpc/errors.js";
import { sleep } from "../../jsonrpc/sleep.js";
import { withOfflineAccess } from "./authorization-code.js";
import { authorizedFetch } from "./authorized-fetch.js";
import { withNonce } from "./bound-tokens.js";
import {
  type ClientAtServer,
  type EndpointError,
  endpointError,
  type Grant,
  type GrantRequest,
  libraryOptions,
  noToken,
  type TokenOptions,
  tokenOptions,
} from "./grant.js";
import { requireIssuerOfSecret } from "./oauth.js";
import { resourceParameters } from "./quirks.js";
import { deviceGrant, identify, identityMembers, withUser } from "./registration.js";
import { SignInError } from "./sign-in-error.js";

/**
 * The code that a user enters on another device, and where. The texts are those of the authorization server: escape them before
 * they are printed.
 */
export interface DevicePrompt {
  /** The page on which the user enters the code. */
  readonly verificationUri: string;
  /** The same page with the code in its URL, for a QR code. Undefined if the authorization server has none. */
  readonly verificationUriComplete?: string;
  /** The code that the user enters. */
  readonly userCode: string;
  /** Milliseconds until the code expires. */
  readonly expiresIn: number;
}

/** Options of `deviceCode`. */
export interface DeviceCodeOptions extends TokenOptions {
  /** Shows the code and the page to the user. */
  readonly show: (prompt: DevicePrompt) => MaybePromise<void>;
  /** The id of a client that is registered with the authorization server. Default: a metadata document or a registration. */
  readonly clientId?: string;
  /** The secret of that client. It needs an `issuer`. Default: none, for a public client. */
  readonly clientSecret?: string;
  /**
   * The authorization server of the client, exactly as its metadata has it. A server that names another one is refused. Default:
   * any.
   */
  readonly issuer?: string;
  /** The name that users see. Default: "MCP client". */
  readonly clientName?: string;
  /** The URL of the client ID metadata document, which is the client id where the server supports that. Default: none. */
  readonly clientMetadataUrl?: string;
  /** Ends the wait for the user. Default: the code expires. */
  readonly signal?: AbortSignal;
}

const members: MembersOf<DeviceCodeOptions> = {
  ...tokenOptions,
  show: ["function", "prompt", "onCode", "display"],
  ...identityMembers,
  signal: ["object", "abort"],
};

/**
 * Signs in a user whose browser is on another device, when a protected server requires it (RFC 8628). For the option `auth` of
 * `connect`, in programs without a browser or a redirect: over SSH, in a container, on a television.
 *
 * @example
 * const auth = deviceCode({
 *   clientName: "Notes",
 *   show: ({ verificationUri, userCode }) => console.error(`Open ${verificationUri} and enter ${userCode}`),
 * });
 * const client = await connect("https://mcp.example.com/mcp", { auth });
 *
 * @throws TypeError for options that contradict each other
 */
export function deviceCode(options: DeviceCodeOptions): HttpAuthorization {
  checkMembers("deviceCode", options, members);
  requireFunction(
    "deviceCode: show",
    options.show,
    "({ verificationUri, userCode }) => console.error(verificationUri, userCode)",
  );
  requireIssuerOfSecret("deviceCode", options);
  return authorizedFetch(options, withUser(options, byDeviceCode(options)));
}

/** https://www.rfc-editor.org/rfc/rfc8628#section-3 */
function byDeviceCode({ show, signal = new AbortController().signal, ...identity }: DeviceCodeOptions): Grant {
  return async (asked) => {
    const request = withOfflineAccess(asked);
    if (request.server.device_authorization_endpoint === undefined) throw noEndpoint(request.server);
    const client = await identify(identity, undefined, request);
    const device = await requestDevice(request, client);
    const ends = systemClock.now() + device.expires_in * 1000;
    const page = request.secureUrl("authorization", device.verification_uri);
    // An application may open it.
    if (device.verification_uri_complete !== undefined)
      request.secureUrl("authorization", device.verification_uri_complete);
    request.report("authorization", `the user enters a code at ${page.host}`, page.origin + page.pathname);
    try {
      await show(promptOf(device));
    } catch (cause) {
      throw abandoned(`an error of \`show\`: ${thrownText(cause)}`, "`show` is a function of this application", cause);
    }
    return { response: await poll(request, client, device, ends, signal), client };
  };
}

async function requestDevice(
  { server, resource, scopes, request }: GrantRequest,
  { client, authentication }: ClientAtServer,
): Promise<DeviceAuthorizationResponse> {
  const parameters = {
    ...resourceParameters(server, resource),
    ...(scopes === undefined ? {} : { scope: scopes.join(" ") }),
  };
  try {
    const options = libraryOptions(request("authorization"));
    const response = await deviceAuthorizationRequest(server, client, authentication, parameters, options);
    return await processDeviceAuthorizationResponse(server, client, response);
  } catch (error) {
    throw error instanceof SignInError ? error : noDeviceCode(await endpointError(error), server, client.client_id);
  }
}

function noDeviceCode({ code, text }: EndpointError, server: AuthorizationServer, clientId: string): SignInError {
  return new SignInError({
    kind: "denied",
    step: "authorization",
    ...(code === undefined ? {} : { code }),
    received: `${text} from ${server.device_authorization_endpoint}`,
    expected: "a device code",
    remedy: `allow device codes for the client ${clientId} at ${server.issuer}, or sign in with a browser`,
  });
}

function promptOf(device: DeviceAuthorizationResponse): DevicePrompt {
  const { verification_uri: verificationUri, verification_uri_complete: complete, user_code: userCode } = device;
  return {
    verificationUri,
    ...(complete === undefined ? {} : { verificationUriComplete: complete }),
    userCode,
    expiresIn: device.expires_in * 1000,
  };
}

/** Milliseconds between two token requests, if the server names no interval, and by how much it grows. RFC 8628 §3.5 */
const interval = { standard: 5_000, step: 5_000, least: 50 } as const;

/**
 * Asks for tokens until the user has decided. A failed connection doubles the interval, as RFC 8628 §3.5 demands; the expiry of the code
 * bounds the wait.
 */
async function poll(
  request: GrantRequest,
  client: ClientAtServer,
  device: DeviceAuthorizationResponse,
  ends: number,
  signal: AbortSignal,
): Promise<TokenEndpointResponse> {
  let wait = Math.max(device.interval === undefined ? interval.standard : device.interval * 1000, interval.least);
  for (;;) {
    await sleep(systemClock, Math.max(0, Math.min(wait, ends - systemClock.now())), signal);
    if (signal.aborted) throw abandoned("no response: the sign-in was cancelled", "sign in again");
    if (systemClock.now() >= ends) throw expired();
    const answer = await requestTokens(request, client, device.device_code);
    if (typeof answer === "object") return answer;
    if (answer === "slow_down") wait += interval.step;
    if (answer === "unreachable") wait *= 2;
  }
}

/** @throws SignInError when the sign-in is over */
async function requestTokens(
  { server, resource, request, key }: GrantRequest,
  { client, authentication }: ClientAtServer,
  code: string,
): Promise<TokenEndpointResponse | "authorization_pending" | "slow_down" | "unreachable"> {
  const options = {
    ...libraryOptions(request("token"), key),
    additionalParameters: resourceParameters(server, resource),
  };
  let isAnswered = false;
  try {
    return await withNonce(async () => {
      isAnswered = false;
      const response = await deviceCodeGrantRequest(server, client, authentication, code, options);
      isAnswered = true;
      return processDeviceCodeResponse(server, client, response);
    });
  } catch (error) {
    if (error instanceof SignInError) throw error;
    if (!isAnswered) return "unreachable";
    const failed = await endpointError(error);
    if (failed.code === "authorization_pending" || failed.code === "slow_down") return failed.code;
    if (failed.code === "expired_token") throw expired();
    if (failed.code === "access_denied") throw denied(failed.text);
    throw noToken(failed, server.token_endpoint, "sign in again; if that does not help, check the client there");
  }
}

function noEndpoint({ issuer }: AuthorizationServer): SignInError {
  return new SignInError({
    kind: "server-metadata",
    step: "server-metadata",
    received: `metadata of ${issuer} without a device authorization endpoint`,
    expected: `\`device_authorization_endpoint\`, for ${deviceGrant}`,
    remedy: "sign in with a browser on this machine, if the authorization server has no device codes",
  });
}

function expired(): SignInError {
  return abandoned("no response: the code has expired", "sign in again, and enter the new code in time");
}

function denied(received: string): SignInError {
  const remedy = "sign in again and allow the access, or ask the operator of the authorization server";
  return new SignInError({ kind: "denied", step: "token", received, expected: "an access token", remedy });
}

function abandoned(received: string, remedy: string, cause?: unknown): SignInError {
  const expected = "a user who enters the code";
  return new SignInError({ kind: "abandoned", step: "authorization", received, expected, remedy }, { cause });
}
