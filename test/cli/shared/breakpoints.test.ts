import { Conversation, type Entry, type Row } from "@parlance/wire";
import { expect, test } from "vitest";
import { Interception } from "../../../packages/cli/src/commands/open/page-interception.js";
import { PausableClock } from "../../../packages/cli/src/shared/answers/dialog.js";
import { Breakpoints } from "../../../packages/cli/src/shared/intercept/breakpoints.js";
import type { Fate, FromInterceptor } from "../../../packages/cli/src/shared/intercept/interception.js";
import { opening, recorded, type Said } from "../../wire/recording/recorded.js";

const limits = { frames: 10, bytes: 1_000, time: 60_000 };

/** Breakpoints for a page that is open, and what they told it. */
function breakpoints(filter: string, own: Partial<typeof limits> = {}): [Breakpoints, readonly string[]] {
  const told: string[] = [];
  const say = (report: FromInterceptor): void => {
    if (report.is === "held") told.push(`held ${report.frame.method} ${report.frame.id ?? ""}`.trim());
    else told.push(report.is === "released" ? `released ${report.why ?? "by the person"}` : report.is);
  };
  const set = new Breakpoints({ tell: say, record: () => undefined }, { ...limits, ...own });
  set.set([filter]);
  set.apply({ do: "watch", isWatched: true });
  return [set, told];
}

function rowsOf(...said: readonly Said[]): readonly Row[] {
  const conversation = new Conversation();
  return recorded(...said).flatMap((entry: Entry) => conversation.push(entry) ?? []);
}

const ping = (id: number, text = ""): Said =>
  `→ {"jsonrpc":"2.0","id":${id},"method":"ping","params":{"text":"${text}"}}`;

/** The decisions on rows, in the order in which they are made. */
function taken(set: Breakpoints, rows: readonly Row[]): readonly string[] {
  const order: string[] = [];
  for (const row of rows) set.take(row, ({ did }: Fate) => void order.push(`${row.n} ${did}`));
  return order;
}

test("a frame is let go when its time is up", async () => {
  const [set, told] = breakpoints("method:ping", { time: 1 });
  const fate = await new Promise<Fate>((resolve) => {
    for (const row of rowsOf(ping(1))) set.take(row, resolve);
  });
  expect(fate).toEqual({ did: "send" });
  expect(told).toEqual(["held ping 1", "released time"]);
  expect(set.isActive).toBe(true);
});

test("frames that do not fit into the bytes that may be held go on", () => {
  const [set, told] = breakpoints("method:ping");
  const order = taken(set, rowsOf(ping(1, "a".repeat(600)), ping(2, "b".repeat(600)), ping(3, "c")));
  expect(order).toEqual(["2 send"]);
  expect(told).toEqual(["held ping 1", "full", "held ping 3"]);
});

test("without a page nothing is held, and what is held is let go in its order", () => {
  const [set] = breakpoints("method:ping");
  const order = taken(set, rowsOf(ping(1), ping(2), ping(3)));
  expect(order).toEqual([]);
  set.apply({ do: "watch", isWatched: false });
  expect(order).toEqual(["1 send", "2 send", "3 send"]);
  expect(taken(set, rowsOf(ping(4)))).toEqual(["1 send"]);
});

test("a response stays after the progress of its request, and a breakpoint on it begins when its turn comes", () => {
  const call = '→ {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x","_meta":{"progressToken":"p"}}}';
  const progress = '← {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}';
  const other = '← {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';
  const [set, told] = breakpoints("dir:s2c -method:notifications/tools/list_changed");
  const rows = rowsOf(...opening("2025-11-25"), call, progress, '← {"jsonrpc":"2.0","id":7,"result":{}}', other).slice(
    4,
  );
  const order = taken(set, rows);
  expect(order).toEqual(["7 send"]);
  set.apply({ do: "release", key: 1, fate: { did: "drop" } });
  expect(order).toEqual(["7 send", "5 drop"]);
  expect(told.at(-1)).toBe("held tools/call 7");
  set.apply({ do: "release", key: 2, fate: { did: "send" } });
  expect(order).toEqual(["7 send", "5 drop", "6 send"]);
});

test("what waits for a released frame, and matches no filter itself, follows it", () => {
  const cancel = '→ {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}';
  const [set] = breakpoints("method:ping kind:req");
  const order = taken(set, rowsOf(ping(1), cancel));
  expect(order).toEqual([]);
  set.apply({ do: "release", key: 1, fate: { did: "change", text: "{}" } });
  expect(order).toEqual(["1 change", "2 send"]);
});

test("a breakpoint that is switched off lets go what it held", () => {
  const [set, told] = breakpoints("method:ping");
  const order = taken(set, rowsOf(ping(1)));
  set.set([]);
  expect(order).toEqual(["1 send"]);
  expect(told.at(-1)).toBe("released rule");
  expect(set.isActive).toBe(false);
});

test("a clock that two have paused goes on when both let it", () => {
  const clock = new PausableClock();
  const [message, question] = [{}, {}];
  clock.pause(message);
  clock.pause(question);
  clock.resume(message);
  expect(clock.isPaused).toBe(true);
  clock.resume(question);
  expect(clock.isPaused).toBe(false);
});

test("nothing is held any more when the tap that held it is gone", () => {
  const holding: boolean[] = [];
  const interception = new Interception("stdio", { breakpoints: ["method:ping"] }, () => undefined);
  interception.onHolding = (isHolding) => void holding.push(isHolding);
  interception.enter(() => undefined);
  const set = new Breakpoints({ tell: (report) => port.take(report), record: () => undefined }, limits);
  const port = interception.connect({
    apply: (command) => (command.do === "rules" ? set.set(command.breakpoints) : set.apply(command)),
  });
  taken(set, rowsOf(ping(1)));
  expect(holding).toEqual([true]);
  port.close();
  expect(holding).toEqual([true, false]);
  set.letGo(() => true, "end");
});

test("a change of the rules shows when every interceptor has applied it, or is gone", async () => {
  const interception = new Interception("stdio", {}, () => undefined);
  const numbers: number[] = [];
  const connect = () =>
    interception.connect({ apply: (command) => void (command.do === "rules" && numbers.push(command.number)) });
  const [first, second] = [connect(), connect()];
  const rule = { kind: "break", text: "method:ping", isOn: true } as const;
  let isOver = false;
  const changed = interception.set([rule]).then(() => {
    isOver = true;
  });
  first.take({ is: "applied", number: numbers.at(-1) ?? 0 });
  await Promise.resolve();
  expect([isOver, interception.state.rules]).toEqual([false, []]);
  second.close();
  await changed;
  expect(interception.state.rules).toEqual([rule]);
});
