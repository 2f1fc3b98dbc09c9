import { type Clock, createService, memoryChannels, openConnection, type Report } from "@parlance/mcp/jsonrpc";
import { createFakeClock } from "@parlance/mcp/testing";
import { expect, test } from "vitest";
import { systemClock } from "../../packages/mcp/src/base/clock.js";

const fail = (): never => {
  throw new RangeError("no time");
};

/** A call that is never answered, under a clock. */
async function unanswered(clock: Clock): Promise<{ readonly reports: readonly Report[]; readonly error: unknown }> {
  const reports: Report[] = [];
  const [near, far] = memoryChannels();
  const stay = (_params: unknown, { signal }: { readonly signal: AbortSignal }): Promise<unknown> =>
    new Promise((resolve) => signal.addEventListener("abort", resolve));
  await using answering = openConnection(far, { handle: createService().method("stay", stay).call });
  await using asking = openConnection(near, { clock, timeout: 20, report: (each) => void reports.push(each) });
  const error = await asking.call("stay").catch((thrown: unknown) => thrown);
  await answering.close();
  return { reports, error };
}

const faults = (reports: readonly Report[]): readonly string[] => [
  ...new Set(reports.flatMap((each) => (each.kind === "fault" ? [each.method] : []))),
];

test("a call has its timeout under a clock that always fails", async () => {
  const { error, reports } = await unanswered({ now: fail, setTimer: fail, clearTimer: fail });
  expect(error).toMatchObject({ reason: "timeout" });
  expect(faults(reports)).toEqual(["Clock.now", "Clock.setTimer"]);
});

test.each([undefined, Number.NaN, "0"])("a time that is %s is a failure of the clock", async (now) => {
  const { error, reports } = await unanswered({ ...createFakeClock(), now: () => now as number, setTimer: fail });
  expect(error).toMatchObject({ reason: "timeout" });
  expect(faults(reports)).toContain("Clock.now");
});

test("a timer that could not be cleared does not fire", async () => {
  const clock = createFakeClock();
  const reports: Report[] = [];
  const [near, far] = memoryChannels();
  await using answering = openConnection(far, { handle: () => 1 });
  const options = { clock: { ...clock, clearTimer: fail }, report: (each: Report) => void reports.push(each) };
  const asking = openConnection(near, options);
  expect(await asking.call("one", undefined, { timeout: 1_000 })).toBe(1);
  await asking.close();
  await answering.close();
  expect(clock.armed).toBeGreaterThan(0);
  clock.advance(10_000);
  expect(faults(reports)).toEqual(["Clock.clearTimer"]);
});

test("after a failure the time goes on from the last one, and never back", async () => {
  let isFailing = true;
  const clock: Clock = {
    ...systemClock,
    now: () => (isFailing ? fail() : systemClock.now() + 1e9),
  };
  const [near, far] = memoryChannels();
  await using answering = openConnection(far, {
    handle: () => {
      isFailing = false; // The call was begun without a time of the clock, and must not seem to have lasted for days.
      return new Promise((resolve) => setImmediate(resolve, "done"));
    },
  });
  await using asking = openConnection(near, { clock, report: () => undefined });
  expect(await asking.call("one", undefined, { timeout: 5_000 })).toBe("done");
  await answering.close();
});
