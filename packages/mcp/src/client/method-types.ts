import type { MembersOf } from "../base/members.js";
import type { OpenedCallOptions } from "../lifecycle/opened.js";
import type { JsonObject } from "../protocol/json.js";
import type { ParamsByMethod, ParamsByNotification, ResultByMethod } from "../protocol/method-params.js";
import { notifications } from "../protocol/methods.js";

type Params<Method extends string> = Method extends keyof ParamsByMethod & keyof ResultByMethod
  ? ParamsByMethod[Method]
  : JsonObject;
type Result<Method extends string> = Method extends keyof ResultByMethod ? ResultByMethod[Method] : JsonObject;

/**
 * Calls a method of the server, in the newest shape. What the protocol knows has the types of its method; of an extension both
 * params and result are objects. A result comes from a peer: only its being an object was checked.
 *
 * @example
 * const { tools } = await client.call("tools/list");
 *
 * @throws as `Connection.call`
 */
export type ClientCall = <const Method extends string>(
  method: Method | keyof ResultByMethod,
  ...rest: Readonly<Record<never, never>> extends Params<Method>
    ? [params?: Params<Method>, options?: OpenedCallOptions]
    : [params: Params<Method>, options?: OpenedCallOptions]
) => Promise<Result<Method>>;

/** Takes what the server tells outside of calls, by method. What comes is not checked against the types. */
export type NotificationHandlers = {
  readonly [Method in Exclude<
    keyof ParamsByNotification,
    "notifications/initialized" | "notifications/roots/list_changed" | "notifications/subscriptions/acknowledged"
  >]?: (params: ParamsByNotification[Method]) => void;
};

/** The members of `NotificationHandlers`, for the check of options. */
export const notificationMembers: MembersOf<NotificationHandlers> = {
  [notifications.cancelled]: ["cancelled"],
  [notifications.progress]: ["progress"],
  [notifications.message]: ["message", "log", "logging"],
  [notifications.resourceUpdated]: ["updated", "resourceUpdated"],
  [notifications.resourcesChanged]: ["resources"],
  [notifications.toolsChanged]: ["tools"],
  [notifications.promptsChanged]: ["prompts"],
  [notifications.elicitationComplete]: ["elicitationComplete"],
  [notifications.taskStatus]: ["status", "tasks"],
};
