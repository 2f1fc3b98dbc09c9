// The rules of MCP for a JSON-RPC connection, on both sides.

import { isObject } from "../base/json.js";
import type { Lossy } from "../jsonrpc/calls/outbox.js";
import type { Params } from "../jsonrpc/message.js";
import { mcpBatchProfile, mcpProfile, type Profile } from "../jsonrpc/profile.js";
import type { Cancellation } from "../jsonrpc/routing.js";
import { metaKeys, readMeta } from "../protocol/meta.js";
import { notifications } from "../protocol/methods.js";
import type { Revision } from "../protocol/revisions/revision.js";
import { isProgressToken } from "../protocol/types/progress.js";

/** The JSON-RPC profile of a revision. */
export function profileOf(revision: Revision): Profile {
  return revision.facts.batches ? mcpBatchProfile : mcpProfile;
}

/** The tool, prompt, resource or completed argument that a request names. */
export function nameOf(_method: string, params: Params | undefined): string | undefined {
  if (!isObject(params)) return undefined;
  const named = isObject(params.ref) ? params.ref : params;
  return [named.name, named.uri].find((each) => typeof each === "string");
}

/**
 * Cancellation in MCP. The receiver sends no response.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation
 */
export const cancellation: Cancellation = { method: notifications.cancelled, idMember: "requestId", error: null };

/** The progress token of a progress notification, which identifies its call. */
export function progressTag(method: string, params: Params | undefined): string | number | undefined {
  if (method !== notifications.progress || !isObject(params)) return undefined;
  return isProgressToken(params.progressToken) ? params.progressToken : undefined;
}

/** How a waiting notification may be lost: of several whose latest one replaces the others, only the latest is sent. */
export function lossyNotification(method: string, params: Params | undefined): Lossy | undefined {
  if (method === notifications.message) return {};
  const subject = latestCounts.get(method);
  if (subject === undefined) return undefined;
  const { [subject]: value, ...rest } = isObject(params) ? params : {};
  return { key: `${method} ${String(value)} ${String(readMeta(rest)?.[metaKeys.subscriptionId])}` };
}

/** Notifications that replace earlier ones with the same value of this member of their params. */
const latestCounts: ReadonlyMap<string, string> = new Map([
  [notifications.progress, "progressToken"],
  [notifications.resourceUpdated, "uri"],
  [notifications.taskStatus, "taskId"],
  [notifications.toolsChanged, ""],
  [notifications.promptsChanged, ""],
  [notifications.resourcesChanged, ""],
  [notifications.rootsChanged, ""],
]);
