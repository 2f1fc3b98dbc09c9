import type { ServerCapabilities } from "../../protocol/capabilities.js";
import type { JsonObject } from "../../protocol/json.js";
import type { ListName } from "../../protocol/types/subscriptions.js";
import type { ErrorCodes } from "../error-codes.js";
import type { Operation } from "../servable.js";
import type { ListShape } from "./paginate.js";

/** Runs one method. The result has the newest shape. */
export type MethodCall = (params: JsonObject, operation: Operation) => unknown;

/** A part of a server: what it advertises, and the methods that it answers. */
export interface Feature {
  /** Undefined while there is nothing to offer: then its methods are unknown as well. */
  readonly capabilities: ServerCapabilities | undefined;
  readonly methods: ReadonlyMap<string, MethodCall>;
}

/** What a feature with a list needs of its server. */
export interface FeatureHost {
  /** How every list of the server is parted and kept. */
  readonly lists: Pick<ListShape, "pageSize" | "cache">;
  /** Notifies listeners of a list change. */
  changed(list: ListName): void;
  /** Whose codes say what is missing. */
  readonly errorCodes: ErrorCodes;
}
