import { register } from "node:module";
import { fileURLToPath } from "node:url";
import { MessageChannel, receiveMessageOnPort } from "node:worker_threads";

/** Listens from here on to what is imported. What it returns gives the files since, but for those of packages. */
export function watchImports(): () => readonly string[] {
  const { port1: near, port2: far } = new MessageChannel();
  near.unref();
  register(new URL("./loader-hooks.js", import.meta.url), { data: { files: far }, transferList: [far] });
  const files = new Set<string>();
  return () => {
    for (let told = receiveMessageOnPort(near); told !== undefined; told = receiveMessageOnPort(near)) {
      const url = String(told.message);
      if (url.startsWith("file:") && !url.includes("/node_modules/")) files.add(fileURLToPath(url));
    }
    return [...files];
  };
}
