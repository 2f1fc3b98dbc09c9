import { onAbort } from "../jsonrpc/abort-listeners.js";
import { LocalError } from "../jsonrpc/errors.js";

/** Waits for an opening. Without its carrier, whatever that still waits for fails at once. @throws what it throws; LocalError `cancelled` */
export async function closedOnFailure<T>(
  carrier: { close(): Promise<void> },
  signal: AbortSignal | undefined,
  opening: Promise<T>,
): Promise<T> {
  const forget = signal === undefined ? undefined : onAbort(signal, () => void carrier.close());
  try {
    const opened = await opening;
    requireWanted(signal);
    return opened;
  } catch (error) {
    await carrier.close();
    requireWanted(signal);
    throw error;
  } finally {
    forget?.();
  }
}

/** @throws LocalError `cancelled` when nobody wants the conversation any more */
export function requireWanted(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return;
  throw new LocalError("cancelled", "connect: cancelled by the caller", { cause: signal.reason });
}
