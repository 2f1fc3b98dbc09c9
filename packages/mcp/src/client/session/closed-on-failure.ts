import { onAbort } from "../../jsonrpc/abort-listeners.js";
import { LocalError } from "../../jsonrpc/errors.js";

/** Waits for an opening. Without its transport, whatever that still waits for fails at once. @throws what it throws; LocalError `cancelled` */
export async function closedOnFailure<T>(
  transport: { close(): Promise<void> },
  signal: AbortSignal | undefined,
  opening: Promise<T>,
): Promise<T> {
  const forget = signal === undefined ? undefined : onAbort(signal, () => void transport.close());
  try {
    const opened = await opening;
    requireNotAborted(signal);
    return opened;
  } catch (error) {
    await transport.close();
    requireNotAborted(signal);
    throw error;
  } finally {
    forget?.();
  }
}

/** @throws LocalError `cancelled` when the signal is aborted */
export function requireNotAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return;
  throw new LocalError("cancelled", "connect: cancelled by the caller", { cause: signal.reason });
}
