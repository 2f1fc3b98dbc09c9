import type { LoadHook } from "node:module";
import type { MessagePort } from "node:worker_threads";

let port: MessagePort | undefined;

/** Called by Node in the thread of the loader, with the data of `register`. */
export function initialize({ files }: { readonly files: MessagePort }): void {
  port = files;
}

/** Reports a file before it is read, so that files with syntax errors are reported too. */
export const load: LoadHook = (url, context, next) => {
  port?.postMessage(url);
  return next(url, context);
};
