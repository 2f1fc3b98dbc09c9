import type { Serving } from "./serving.js";

/** What a worker tells the command, once: that it serves, or why not. `files` are those that its module consists of. */
export type WorkerReport =
  | {
      readonly kind: "ready";
      readonly files: readonly string[];
      readonly name: string;
      readonly version: string;
      readonly http?: { readonly url: string; readonly port: number };
    }
  | {
      readonly kind: "failed";
      readonly files: readonly string[];
      readonly message: string;
      readonly seen: readonly string[];
      readonly remedy?: string;
    };

/** The report of a module that is served. */
export function readyReport({ name, version, http }: Serving, files: readonly string[]): WorkerReport {
  const ready = { kind: "ready", files, name, version } as const;
  return http === undefined ? ready : { ...ready, http: { url: http.url, port: http.port } };
}
