import type { Channel, Framing } from "@parlance/mcp/jsonrpc";
import type { FrameDecoder } from "../../../packages/mcp/src/base/framing.js";

/** A channel whose input is what a test pushes, byte for byte, and whose output is a list of frames. */
export interface ByteChannel extends Channel {
  readonly sent: readonly string[];
  push(bytes: Uint8Array): void;
  end(): void;
}

/** A byte channel with `framing` on its way in. */
export function byteChannel(framing: Framing, frameBytes: number): ByteChannel {
  const sent: string[] = [];
  let decoder: FrameDecoder | undefined;
  let finish = (): void => undefined;
  return {
    sent,
    open(receiver) {
      decoder = framing.decoder(receiver, frameBytes);
      finish = () => receiver.end();
    },
    send: (frame) => void sent.push(frame),
    close: () => Promise.resolve(),
    push: (bytes) => decoder?.push(bytes),
    end() {
      decoder?.end();
      finish();
    },
  };
}
