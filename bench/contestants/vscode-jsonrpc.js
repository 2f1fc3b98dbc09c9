import {
  createMessageConnection,
  Disposable,
  ReadableStreamMessageReader,
  WriteableStreamMessageWriter,
} from "vscode-jsonrpc/node";
import { callTool, ping } from "../work.js";

/** @import { Contestant } from "../types.d.ts" */

/**
 * It has no text in and text out: it reads and writes `Content-Length` streams. So the frames carry their header and are
 * bytes before the clock starts, its output is taken as the bytes it writes, and the two streams are its own stream port
 * with nothing behind it. It gives every message and every write a turn of the event loop of its own; with 64 messages
 * in flight the turns are shared out as they are in a busy server.
 * @type {Contestant<Buffer>}
 */
export const contestant = {
  package: "vscode-jsonrpc",
  kinds: ["call"],
  inFlight: 64,
  open() {
    /** @type {(chunk: Uint8Array) => void} */
    let receive;
    /** @type {((body: Uint8Array) => void)[]} */
    const waiting = []; // Answers come in the order of the requests: the handlers are synchronous.
    const silent = () => Disposable.create(() => undefined);
    const input = {
      onData: (/** @type {(chunk: Uint8Array) => void} */ listener) => {
        receive = listener;
        return silent();
      },
      onClose: silent,
      onError: silent,
      onEnd: silent,
    };
    const output = {
      onClose: silent,
      onError: silent,
      onEnd: silent,
      end: () => undefined,
      write: (/** @type {Uint8Array | string} */ data) => {
        if (typeof data !== "string") waiting.shift()?.(data); // A string is a header.
        return Promise.resolve();
      },
    };
    const connection = createMessageConnection(
      new ReadableStreamMessageReader(input),
      new WriteableStreamMessageWriter(output),
    );
    connection.onRequest("ping", ping);
    connection.onRequest("tools/call", callTool);
    connection.listen();
    return {
      prepare: (text) => Buffer.from(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`),
      answer: (frame) =>
        new Promise((resolve) => {
          waiting.push(resolve);
          receive(frame);
        }),
    };
  },
};
