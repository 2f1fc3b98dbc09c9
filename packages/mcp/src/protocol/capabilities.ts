import type { JsonObject } from "./json.js";

// Capability objects are open: members that are not named here are kept. An empty object declares the capability.

/**
 * What a client can be asked for.
 * https://modelcontextprotocol.io/specification/latest/schema#clientcapabilities
 */
export interface ClientCapabilities {
  /** `listChanged` exists in the handshake era only. */
  readonly roots?: { readonly listChanged?: boolean };
  readonly sampling?: {
    /** `includeContext` other than `"none"`. */
    readonly context?: JsonObject;
    /** `tools` and `toolChoice`. */
    readonly tools?: JsonObject;
  };
  /** Without members: `form`. */
  readonly elicitation?: { readonly form?: JsonObject; readonly url?: JsonObject };
  /** Settings by extension identifier. */
  readonly extensions?: Readonly<Record<string, JsonObject>>;
  readonly experimental?: Readonly<Record<string, JsonObject>>;
  /** Where tasks belong to the core protocol: what this side runs as a task. */
  readonly tasks?: {
    readonly list?: JsonObject;
    readonly cancel?: JsonObject;
    readonly requests?: {
      readonly sampling?: { readonly createMessage?: JsonObject };
      readonly elicitation?: { readonly create?: JsonObject };
    };
  };
}

/**
 * What a server offers.
 * https://modelcontextprotocol.io/specification/latest/schema#servercapabilities
 */
export interface ServerCapabilities {
  readonly tools?: { readonly listChanged?: boolean };
  readonly resources?: { readonly subscribe?: boolean; readonly listChanged?: boolean };
  readonly prompts?: { readonly listChanged?: boolean };
  readonly completions?: JsonObject;
  readonly logging?: JsonObject;
  /** Settings by extension identifier. */
  readonly extensions?: Readonly<Record<string, JsonObject>>;
  readonly experimental?: Readonly<Record<string, JsonObject>>;
  /** Where tasks belong to the core protocol: what this side runs as a task. */
  readonly tasks?: {
    readonly list?: JsonObject;
    readonly cancel?: JsonObject;
    readonly requests?: { readonly tools?: { readonly call?: JsonObject } };
  };
}
