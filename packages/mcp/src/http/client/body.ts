import { Unfinished } from "../../framing/unfinished.js";
import { onAbort } from "../../jsonrpc/abort-listeners.js";

/** A body, or as much of it as may be read. */
export interface ReadBody {
  readonly bytes: Uint8Array;
  /** False when there was more. */
  readonly isWhole: boolean;
}

/** Reads a body up to a bound, and lets go of the rest. @throws what the platform throws for a body that breaks off */
export async function readBody(response: Response, maxBytes: number, signal: AbortSignal): Promise<ReadBody> {
  const body = new Unfinished(maxBytes);
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
 * Hands over a body chunk by chunk, until it ends, or `take` wants no more, or the signal aborts: that of a program's own
 * `fetch` may be deaf to it. Reads on when `ready` says so.
 */
export async function readChunks(
  { body }: Response,
  signal: AbortSignal,
  take: (chunk: Uint8Array) => boolean,
  ready?: () => Promise<void> | undefined,
): Promise<void> {
  if (body === null) return;
  const reader = body.getReader();
  const cancel = (): void => void reader.cancel().catch(() => undefined); // It is broken already.
  const forget = onAbort(signal, cancel);
  if (signal.aborted) cancel();
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
