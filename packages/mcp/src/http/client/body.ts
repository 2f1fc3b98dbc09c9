import { whenAborted } from "../../jsonrpc/abort-listeners.js";
import { PartialFrame } from "../../transport/framing/partial-frame.js";

/** A body, possibly truncated. */
export interface ReadBody {
  readonly bytes: Uint8Array;
  /** False if the body was longer. */
  readonly isWhole: boolean;
}

/**
 * Reads a body up to a limit, and cancels the rest.
 * @throws the platform's error if the body breaks off
 */
export async function readBody(response: Response, maxBytes: number, signal: AbortSignal): Promise<ReadBody> {
  const body = new PartialFrame(maxBytes);
  let isWhole = true;
  await readChunks(response, signal, (chunk) => {
    const room = maxBytes - body.length;
    isWhole = chunk.length <= room;
    body.append(isWhole ? chunk : chunk.subarray(0, room));
    return isWhole;
  });
  return { bytes: body.finish().head, isWhole };
}

/**
 * Passes a body to `take` chunk by chunk, until it ends, `take` returns false, or the signal aborts (checked here,
 * because a custom `fetch` may ignore it). Waits for `ready` before each chunk.
 */
export async function readChunks(
  { body }: Response,
  signal: AbortSignal,
  take: (chunk: Uint8Array) => boolean,
  ready?: () => Promise<void> | undefined,
): Promise<void> {
  if (body === null) return;
  const reader = body.getReader();
  const cancel = (): void => void reader.cancel().catch(() => undefined); // It is already broken.
  const forget = whenAborted(signal, cancel);
  let isRead = false;
  try {
    while (!isRead) {
      await ready?.();
      const { done, value } = await reader.read();
      isRead = done;
      if (!done && !take(value)) return;
    }
  } finally {
    forget();
    if (!isRead) cancel();
  }
}
