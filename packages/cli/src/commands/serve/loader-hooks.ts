import type { LoadHook } from "node:module";
import type { MessagePort } from "node:worker_threads";

let port: MessagePort | undefined;

/** Called by Node, in the thread of the loader, with what `register` was given. */
export function initialize({ files }: { readonly files: MessagePort }): void {
  port = files;
}

/** Tells of a file before it is read, so that those which cannot be parsed are known too. */
export const load: LoadHook = (url, context, next) => {
  port?.postMessage(url);
  return next(url, context);
};
