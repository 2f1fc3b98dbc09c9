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

/** What pairs a request with its response. */
export const requestId: Shape = anyOf("a string or an integer", [string, integer]);

/** What anything may carry besides; open to keys of extensions. */
export const meta: Shape = optional(ref("MetaObject"));

/** What params and results have in common. */
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
  // The params of what is asked in the middle of a call, which has said already who calls.
  InputRequestParams: object({ _meta: meta }),
  InputResponseRequestParams: extending(["RequestParams"], {
    inputResponses: optional(map(ref("InputResponse"))),
    requestState: optional(string),
  }),

  // A client takes a word that it does not know for an invalid result: basic#resulttype
  Result: object({ resultType: literal("complete"), _meta: optional(ref("ResultMetaObject")) }),
  PaginatedResult: extending(["Result"], { nextCursor: optional(string) }),
  CacheableResult: extending(["Result"], { ttlMs: count, cacheScope: literal("public", "private") }),
};
