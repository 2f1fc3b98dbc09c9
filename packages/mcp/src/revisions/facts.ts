/**
 * What code may ask of a revision. One member per rule that differs between revisions and that no method name, code or
 * step already says; what follows from the era alone is asked of `revision.era`.
 */
export interface Facts {
  /** Whether messages may come in arrays. */
  readonly batches: boolean;
  /** Whether an error that answers an unreadable request may leave its id out. */
  readonly errorId: "required" | "optional";

  /** How much it demands that both sides keep to the version and the capabilities that were negotiated. */
  readonly negotiation: "should" | "must";

  /** Whether `notifications/progress` may say something in words. */
  readonly progressMessage: boolean;
  /** Whether tools, prompts, resources and peers have a title besides their name. */
  readonly titles: boolean;
  /** Whether they have icons. */
  readonly icons: boolean;
  /** Whether tools, prompts, resources and content blocks have a `_meta` of their own. */
  readonly itemMeta: boolean;
  /** What is said on the form of `_meta` keys: nothing, or which prefixes are reserved, by one of two rules. */
  readonly metaKeys: "free" | "prefix" | "second-label";

  /** Whether content may be a sound. */
  readonly audio: boolean;
  /** Whether content may be a link to a resource. */
  readonly resourceLinks: boolean;
  /** Whether tools have annotations. */
  readonly toolAnnotations: boolean;
  /** What a tool may return besides content. */
  readonly structuredContent: "none" | "object" | "any";
  /** What the schemas of a tool may say: a dialect that is not named, 2020-12, or that with rules for `$ref`. */
  readonly toolSchemas: "unnamed" | "2020-12" | "2020-12 with references";
  /** How a tool refuses arguments: as it likes, or with a result that the model can read. */
  readonly toolArgumentErrors: "any" | "result";

  /** Whether a server that completes arguments says so in its capabilities. */
  readonly completionsCapability: boolean;
  /** Whether a completion knows the arguments that are settled. */
  readonly completionContext: boolean;
  /** What a person can be asked: nothing, a form, or to visit a page, which has an id or has none. */
  readonly elicitation: "none" | "form" | "form, url with id" | "form, url";
  /** Whether a sampled model may call tools. */
  readonly samplingTools: boolean;
  /** Whether tasks exist, and whether in the core protocol. */
  readonly tasks: "none" | "core" | "extension";

  /** How HTTP carries messages. */
  readonly httpBinding: "http+sse" | "session" | "stateless";
  /** Whether a server may end an event stream early, to be polled. */
  readonly httpPolling: boolean;
  /** Which HTTP requests name the revision in `MCP-Protocol-Version`. */
  readonly httpVersionHeader: "none" | "after initialize" | "all";
  /** The status that refuses a foreign `Origin`; undefined where it is left to the server. */
  readonly httpOriginRefusal: 403 | undefined;
  /**
   * The authorization that HTTP servers may ask for: by a server that is its own authorization server; by a resource
   * server of another one; with client metadata documents besides; with credentials bound to their issuer besides.
   */
  readonly authorization: "none" | "own server" | "resource server" | "client metadata" | "bound issuer";
}

/** The error codes of a revision by name; undefined where the revision has no such error. */
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
