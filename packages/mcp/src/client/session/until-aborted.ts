import { onAbort } from "../../jsonrpc/abort-listeners.js";
import { LocalError } from "../../jsonrpc/errors.js";

/** The value, unless the signal aborts before it is there. @throws LocalError `cancelled` */
export function untilAborted<Value>(
  what: string,
  value: Promise<Value>,
  signal: AbortSignal | undefined,
): Promise<Value> {
  if (signal === undefined) return value;
  return new Promise((resolve, reject) => {
    const cancel = (): void =>
      reject(new LocalError("cancelled", `${what}: cancelled by the caller`, { cause: signal.reason }));
    const forget = onAbort(signal, cancel);
    void value.then(resolve, reject).finally(forget);
    if (signal.aborted) cancel();
  });
}
