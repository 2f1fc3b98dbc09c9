import { metaKeys } from "../meta.js";
import {
  anyOf,
  count,
  extending,
  integer,
  literal,
  map,
  object,
  optional,
  ref,
  type Shape,
  string,
  type Types,
} from "./shape.js";

/** A request id. */
export const requestId: Shape = anyOf("a string or an integer", [string, integer]);

/** `_meta` of any object. Extensions may add keys. */
export const meta: Shape = optional(ref("MetaObject"));

/** The common members of params and results. */
export const wrapperTypes: Types = {
  MetaObject: object({}),
  RequestMetaObject: object({
    [metaKeys.protocolVersion]: string,
    [metaKeys.clientCapabilities]: ref("ClientCapabilities"),
    [metaKeys.clientInfo]: optional(ref("Implementation")),
    [metaKeys.logLevel]: optional(ref("LoggingLevel")),
    [metaKeys.progressToken]: optional(requestId),
  }),
  NotificationMetaObject: object({ [metaKeys.subscriptionId]: optional(requestId) }),
  ResultMetaObject: object({ [metaKeys.serverInfo]: optional(ref("Implementation")) }),

  RequestParams: object({ _meta: ref("RequestMetaObject") }),
  NotificationParams: object({ _meta: optional(ref("NotificationMetaObject")) }),
  PaginatedRequestParams: extending(["RequestParams"], { cursor: optional(string) }),
  ListRequestParams: ref("PaginatedRequestParams"),
  // Params of input requests: their `_meta` does not repeat the caller.
  InputRequestParams: object({ _meta: meta }),
  InputResponseRequestParams: extending(["RequestParams"], {
    inputResponses: optional(map(ref("InputResponse"))),
    requestState: optional(string),
  }),

  // A client treats an unknown `resultType` as an invalid result: basic#resulttype
  Result: object({ resultType: literal("complete"), _meta: optional(ref("ResultMetaObject")) }),
  PaginatedResult: extending(["Result"], { nextCursor: optional(string) }),
  CacheableResult: extending(["Result"], { ttlMs: count, cacheScope: literal("public", "private") }),
};
