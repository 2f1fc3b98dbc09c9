import { deserializeMessage } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { initialize, initialized, newestHandshake } from "../mcp.js";
import { createSdkV2 } from "../servers/sdk-v2.js";

/** @import { JSONRPCMessage, Transport } from "@modelcontextprotocol/server" */
/** @import { Contestant } from "../types.d.ts" */

/**
 * The official SDK over a transport in process. `connect` speaks the handshake revisions only; the stateless one is
 * reached through `serveStdio`, which takes a transport too. Text becomes a message as in the SDK's own transports.
 * @type {Contestant}
 */
export const contestant = {
  package: "@modelcontextprotocol/server",
  kinds: ["call", "stateless"],
  async open(kind) {
    const transport = new InProcess();
    if (kind === "stateless") serveStdio(createSdkV2, { transport });
    else {
      await createSdkV2().connect(transport);
      await transport.call(JSON.stringify(initialize(newestHandshake)));
      transport.onmessage?.(initialized);
    }
    return { answer: (text) => transport.call(text) };
  },
};

/** One call at a time: what is sent is the answer to what was received last. */
class InProcess {
  /** @type {Transport["onmessage"]} */
  onmessage;
  /** @type {(text: string) => void} */
  #settle = () => undefined;

  /**
   * @param {string} text
   * @returns {Promise<string>}
   */
  call(text) {
    return new Promise((resolve) => {
      this.#settle = resolve;
      this.onmessage?.(deserializeMessage(text));
    });
  }

  /** @param {JSONRPCMessage} message */
  async send(message) {
    this.#settle(JSON.stringify(message));
  }

  start() {
    return Promise.resolve();
  }

  close() {
    return Promise.resolve();
  }
}
