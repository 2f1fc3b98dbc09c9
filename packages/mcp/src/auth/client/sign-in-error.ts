import { LocalError } from "../../jsonrpc/errors.js";

/** One exchange or one decision of a sign-in. It contains no secret. */
export interface SignInStep {
  /**
   * - `challenge`: the server requires a token, or one with more scopes.
   * - `resource-metadata`: the Protected Resource Metadata of the server.
   * - `server-metadata`: the metadata of the authorization server.
   * - `stored`: what the token store has.
   * - `registration`: how the client got its id.
   * - `authorization`: the authorization request, which the user sees.
   * - `redirect`: the authorization response.
   * - `token`: the token request.
   * - `refresh`: the token request with a refresh token.
   * - `step-up`: the request for further scopes.
   */
  readonly kind:
    | "challenge"
    | "resource-metadata"
    | "server-metadata"
    | "stored"
    | "registration"
    | "authorization"
    | "redirect"
    | "token"
    | "refresh"
    | "step-up";
  /** The finding or the choice, and its reason. */
  readonly text: string;
  /** The URL that was requested, without secrets. */
  readonly url?: string;
  /** The HTTP method. Absent for a decision. */
  readonly method?: string;
  /** The HTTP status of the response. */
  readonly status?: number;
}

/** Why a sign-in failed. */
export interface SignInFailure {
  /**
   * - `resource-metadata`: the server has no usable Protected Resource Metadata.
   * - `resource-mismatch`: that metadata belongs to another resource.
   * - `server-metadata`: the authorization server has no usable metadata.
   * - `issuer-mismatch`: that metadata, or an authorization response, names another issuer.
   * - `insecure-url`: a URL without HTTPS.
   * - `pkce`: the authorization server does not advertise PKCE with S256.
   * - `no-client-id`: there is no way to get a client id there.
   * - `registration`: the authorization server refused to register the client.
   * - `interaction`: a user has to sign in, and there is no `signIn`.
   * - `abandoned`: the user did not finish, or could not be asked.
   * - `denied`: the authorization response is an error.
   * - `invalid-response`: the authorization response is not one to this request.
   * - `token`: the token request failed.
   * - `refresh`: the refresh token is no longer accepted.
   * - `token-refused`: the server does not accept the token that it asked for.
   * - `scope`: the server requires scopes that are not granted.
   */
  readonly kind:
    | "resource-metadata"
    | "resource-mismatch"
    | "server-metadata"
    | "issuer-mismatch"
    | "insecure-url"
    | "pkce"
    | "no-client-id"
    | "registration"
    | "interaction"
    | "abandoned"
    | "denied"
    | "invalid-response"
    | "token"
    | "refresh"
    | "token-refused"
    | "scope";
  /** The step that failed. */
  readonly step: SignInStep["kind"];
  /** The error code of the authorization server, such as `invalid_client`. Absent where it did not send one. */
  readonly code?: string;
  /** The received response. */
  readonly received: string;
  /** The response that the step needs. */
  readonly expected: string;
  /** The remedy. */
  readonly remedy: string;
  /** The resource to sign in to. Of `interaction` only. */
  readonly resource?: string;
  /** All scopes to sign in with, if the token that there is lacks some. Of `interaction` only. */
  readonly scopes?: readonly string[];
}

/** A sign-in that failed. The message has the step, what was received, what was expected and the remedy, and no secret. */
export class SignInError extends LocalError {
  override readonly name = "SignInError";
  /** The kind of failure, for programs. */
  readonly failure: SignInFailure;

  constructor(failure: SignInFailure, options?: ErrorOptions) {
    const { step, received, expected, remedy } = failure;
    super("refused", `sign-in failed (${step}): received ${received}; expected ${expected}; ${remedy}`, options);
    this.failure = failure;
  }
}
