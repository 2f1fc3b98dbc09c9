import type { MembersOf } from "../base/check-members.js";
import type { JsonObject } from "../protocol/json.js";
import type { ParamsByMethod, ParamsByNotification, ResultByMethod } from "../protocol/method-params.js";
import { notifications } from "../protocol/methods.js";
import type { SessionCallOptions } from "./session/client-session.js";

type Params<Method extends string> = Method extends keyof ParamsByMethod & keyof ResultByMethod
  ? ParamsByMethod[Method]
  : JsonObject;
type Result<Method extends string> = Method extends keyof ResultByMethod ? ResultByMethod[Method] : JsonObject;

/**
 * Calls a method of the server, in the newest shape. Protocol methods are typed; params and result of an extension are objects.
 * The result comes from a peer and is checked only to be an object.
 *
 * @example
 * const { tools } = await client.call("tools/list");
 *
 * @throws as `Connection.call`
 */
export type ClientCall = <const Method extends string>(
  method: Method | keyof ResultByMethod,
  ...rest: Readonly<Record<never, never>> extends Params<Method>
    ? [params?: Params<Method>, options?: SessionCallOptions]
    : [params: Params<Method>, options?: SessionCallOptions]
) => Promise<Result<Method>>;

/** Handlers of server notifications that belong to no call, by method. Their params are not validated. */
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
