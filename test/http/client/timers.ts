import type { FakeClock } from "@parlance/mcp/testing";

/** With them no call has a timer: those that are armed are the streams'. */
export const patient = { timeout: Number.POSITIVE_INFINITY, totalTimeout: Number.POSITIVE_INFINITY };

/** Lets the event loop turn until so many timers are armed. */
export async function timers(clock: FakeClock, count: number): Promise<void> {
  while (clock.armed < count) await new Promise(setImmediate);
}
