/** One event listener per signal, however many calls wait for it: runtimes warn of a leak when there are more than ten. */
const listening = new WeakMap<AbortSignal, Listeners>();

interface Listeners {
  readonly all: Set<() => void>;
  readonly fire: () => void;
}

/** Runs `listener` when the signal aborts, until the function that it gives is called. */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  const listeners = listening.get(signal) ?? listen(signal);
  listeners.all.add(listener);
  return () => {
    listeners.all.delete(listener);
    if (listeners.all.size > 0 || listening.get(signal) !== listeners) return;
    listening.delete(signal);
    signal.removeEventListener("abort", listeners.fire);
  };
}

/** As `onAbort`; runs `listener` at once if the signal is aborted. */
export function whenAborted(signal: AbortSignal, listener: () => void): () => void {
  const forget = onAbort(signal, listener);
  if (signal.aborted) listener();
  return forget;
}

function listen(signal: AbortSignal): Listeners {
  const all = new Set<() => void>();
  const fire = (): void => {
    for (const listener of [...all]) listener();
  };
  const listeners: Listeners = { all, fire };
  listening.set(signal, listeners);
  signal.addEventListener("abort", fire, { once: true });
  return listeners;
}
