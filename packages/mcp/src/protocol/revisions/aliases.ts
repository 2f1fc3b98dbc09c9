// Nonstandard names from tutorials and other protocols. No revision has them. Only lenient peers accept them; the rules
// suggest the standard name; they are never sent.

import { methods, notifications } from "../methods.js";

/** The standard name for a nonstandard one. */
export interface Alias {
  /** The standard method. */
  readonly method: string;
  /** Nonstandard members of params, mapped to the standard ones. */
  readonly params?: Readonly<Record<string, string>>;
  /** The source of the name. */
  readonly origin: "language server protocol" | "tutorials";
}

/** Standard methods by nonstandard name. */
export const methodAliases: ReadonlyMap<string, Alias> = new Map<string, Alias>([
  ["initialized", { method: notifications.initialized, origin: "language server protocol" }],
  [
    "$/cancelRequest",
    { method: notifications.cancelled, params: { id: "requestId" }, origin: "language server protocol" },
  ],
  [
    "$/progress",
    {
      method: notifications.progress,
      params: { token: "progressToken", value: "progress" },
      origin: "language server protocol",
    },
  ],
  ["resources/get", { method: methods.readResource, origin: "tutorials" }],
  ["tool/progress", { method: notifications.progress, origin: "tutorials" }],
  ["resources/updated", { method: notifications.resourceUpdated, origin: "tutorials" }],
  ["notifications/log", { method: notifications.message, origin: "tutorials" }],
]);

/** Published versions by unpublished version: from tutorials, and from a draft that servers were written for. */
export const versionAliases: ReadonlyMap<string, string> = new Map([
  ["0.1.0", "2024-11-05"],
  ["2024-10-07", "2024-11-05"],
]);
