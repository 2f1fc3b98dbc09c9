/**
 * The differences between revisions, one member per rule that methods, error codes or steps do not already express.
 * Differences that follow from the era are read from `revision.era`.
 */
export interface Facts {
  /** Whether messages may come in batches. */
  readonly batches: boolean;
  /** Whether the error response to an unreadable request may omit its id. */
  readonly errorId: "required" | "optional";

  /** How strictly both sides must respect the negotiated version and capabilities. */
  readonly negotiation: "should" | "must";

  /** Whether `notifications/progress` may have a `message`. */
  readonly progressMessage: boolean;
  /** Whether tools, prompts, resources and implementations have a `title`. */
  readonly titles: boolean;
  /** Whether these have `icons`. */
  readonly icons: boolean;
  /** Whether tools, prompts, resources and content blocks have `_meta`. */
  readonly itemMeta: boolean;
  /** The rule for reserved prefixes of `_meta` keys: none, or one of two. */
  readonly metaKeys: "free" | "prefix" | "second-label";

  /** Whether content may be audio. */
  readonly audio: boolean;
  /** Whether content may be a resource link. */
  readonly resourceLinks: boolean;
  /** Whether tools have annotations. */
  readonly toolAnnotations: boolean;
  /** The type of `structuredContent` in tool results. */
  readonly structuredContent: "none" | "object" | "any";
  /** The dialect of tool schemas: unspecified, 2020-12, or 2020-12 with rules for `$ref`. */
  readonly toolSchemas: "unnamed" | "2020-12" | "2020-12 with references";
  /** How a tool reports invalid arguments: unspecified, or as a result with `isError`, which the model can read. */
  readonly toolArgumentErrors: "any" | "result";

  /** Whether servers declare the `completions` capability. */
  readonly completionsCapability: boolean;
  /** Whether a completion request has the values of other arguments. */
  readonly completionContext: boolean;
  /** The supported modes of elicitation, and whether URL mode has an id. */
  readonly elicitation: "none" | "form" | "form, url with id" | "form, url";
  /** Whether a sampled model may use tools. */
  readonly samplingTools: boolean;
  /** Whether tasks exist: not at all, in the core protocol, or as an extension. */
  readonly tasks: "none" | "core" | "extension";

  /** The HTTP transport. */
  readonly httpBinding: "http+sse" | "session" | "stateless";
  /** Whether a server may close an event stream early, so that the client polls. */
  readonly httpPolling: boolean;
  /** The HTTP requests that must have the `MCP-Protocol-Version` header. */
  readonly httpVersionHeader: "none" | "after initialize" | "all";
  /** The HTTP status for a forbidden `Origin`; undefined if the specification does not require one. */
  readonly httpOriginRefusal: 403 | undefined;
  /**
   * The authorization model of HTTP servers: the MCP server is its own authorization server; it is a resource server of
   * a separate one; additionally with client metadata documents; additionally with credentials bound to their issuer.
   */
  readonly authorization: "none" | "own server" | "resource server" | "client metadata" | "bound issuer";
}

/** The error codes of a revision by name; undefined if the revision has no such error. */
export interface Codes {
  readonly parseError: number;
  readonly invalidRequest: number;
  readonly methodNotFound: number;
  readonly invalidParams: number;
  readonly internalError: number;
  readonly resourceNotFound: number;
  readonly userRejected: number | undefined;
  readonly urlElicitationRequired: number | undefined;
  readonly headerMismatch: number | undefined;
  readonly missingRequiredClientCapability: number | undefined;
  readonly unsupportedProtocolVersion: number | undefined;
}
