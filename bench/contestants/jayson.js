import jayson from "jayson";
import { callTool, ping } from "../work.js";

/** @import { Contestant } from "../types.d.ts" */

/**
 * Its own transports serialise with json-stringify-safe, which is many times slower than `JSON.stringify`; what is
 * measured here is the server alone, with the faster of the two.
 * @type {Contestant}
 */
export const contestant = {
  package: "jayson",
  kinds: ["call", "batch"],
  open() {
    const server = new jayson.Server({
      ping: answering(ping),
      "tools/call": answering(callTool),
    });
    return {
      answer(text) {
        let output = "";
        server.call(text, (/** @type {unknown} */ error, /** @type {unknown} */ response) => {
          output = JSON.stringify(error ?? response);
        });
        return output;
      },
    };
  },
};

/**
 * A method as jayson takes it.
 * @param {(params: unknown) => object} method
 */
function answering(method) {
  return (/** @type {unknown} */ params, /** @type {(error: null, result: object) => void} */ callback) =>
    callback(null, method(params));
}
