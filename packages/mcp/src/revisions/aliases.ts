// Names that tutorials and other protocols use for what the specification calls otherwise. No revision has them. They
// are recognised only by who asks to be lenient, named by rules as what was probably meant, and never sent.

import { methods, notifications } from "../protocol/methods.js";

/** What a loose name stands for. */
export interface Alias {
  readonly method: string;
  /** Members of params that are called otherwise too, from the loose name to the real one. */
  readonly params?: Readonly<Record<string, string>>;
  /** Where the name comes from. */
  readonly origin: "language server protocol" | "tutorials";
}

/** Real methods by loose name. */
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

/** Real versions by loose version: of tutorials, and of a draft that servers were written for. */
export const versionAliases: ReadonlyMap<string, string> = new Map([
  ["0.1.0", "2024-11-05"],
  ["2024-10-07", "2024-11-05"],
]);
