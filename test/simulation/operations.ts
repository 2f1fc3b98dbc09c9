import { turn } from "../properties/conversation/turn.js";
import { type Asking, manners } from "./asking.js";
import type { End } from "./end.js";
import type { Link } from "./link.js";
import { defaults } from "./opening.js";

/** Gives every call of a simulation a number of its own. */
export interface Nonces {
  next(): number;
}

/** Something that may happen on a link. One that makes no sense at its time does nothing. */
type Operation = (link: Link, nonces: Nonces) => void | Promise<void>;

/** All that can happen, and how likely it is: a new kind of operation is a line here. */
const operations: readonly (readonly [weight: number, operation: Operation])[] = [
  [16, call],
  [3, callTogether],
  [5, cancel],
  [3, advance],
  [26, deliver],
  [3, (link) => eitherCarrier(link).duplicate()],
  [3, (link) => eitherCarrier(link).reorder()],
  [1, (link) => eitherCarrier(link).loseOne()],
  [1, (link) => eitherCarrier(link).block()],
  [2, (link) => eitherCarrier(link).release()],
  [10, endHandler],
  [5, progress],
  [10, () => turn(8)],
  [2, () => turn()],
];
const wheel = operations.flatMap(([weight, operation]) => Array.from({ length: weight }, () => operation));

/** One operation, and what must hold behind it. */
export async function operate(link: Link, nonces: Nonces): Promise<void> {
  await link.random.pick(wheel)(link, nonces);
  link.check();
}

/** The ways in which a link comes to its end. */
const endings: readonly ((link: Link) => void)[] = [
  (link) => void eitherEnd(link).connection.close(),
  (link) => eitherCarrier(link).end(),
  (link) => breakCarrier(link),
  (link) => void eitherEnd(link).connection.drain(link.random.pick([0, 200, 10_000])),
  () => undefined,
];

/** Ends a link: it goes on for a while if it can, then both ends are closed and hold nothing. */
export async function finish(link: Link, nonces: Nonces): Promise<number> {
  const { random } = link;
  if (random.chance(0.5)) await link.rest();
  link.note("the end begins");
  random.pick(endings)(link);
  const more = random.below(12);
  for (let step = 0; step < more; step += 1) await operate(link, nonces);
  if (random.chance(0.5)) await link.rest();
  for (const end of link.ends) void end.connection.close();
  await link.checkEnd();
  return more;
}

function breakCarrier(link: Link): void {
  for (const transport of link.transports) transport.end(new Error("connection reset"));
}

function call(link: Link, nonces: Nonces): void {
  const { random } = link;
  const from = caller(link);
  const controller = new AbortController();
  if (random.chance(0.03)) controller.abort();
  // Input requests are answered at once, without progress.
  const listens = random.chance(0.7) && (from === link.near || link.driver.farListens);
  link.call(from, asking(link, nonces, controller), controller, listens);
}

function callTogether(link: Link, nonces: Nonces): void {
  if (link.driver.callTogether === undefined) return;
  const asked = Array.from({ length: 1 + link.random.below(3) }, () => {
    const controller = new AbortController();
    return [asking(link, nonces, controller), controller] as const;
  });
  link.callTogether(link.near, asked);
}

function asking({ random }: Link, nonces: Nonces, { signal }: AbortController): Asking {
  const isShort = random.chance(0.3);
  // To quit is rare, or no conversation would come to anything.
  const manner = random.pick(manners);
  return {
    nonce: nonces.next(),
    manner: manner === "quit" && random.chance(0.98) ? "now" : manner,
    signal,
    timeout: isShort ? 100 + random.below(400) : defaults.timeout,
    totalTimeout: random.chance(0.2) ? 200 + random.below(600) : defaults.totalTimeout,
  };
}

function cancel(link: Link): void {
  const end = eitherEnd(link);
  end.note();
  const { pending, all } = end.own;
  const call = pending.length > 0 && link.random.chance(0.9) ? link.random.pick(pending) : all.at(-1);
  if (call !== undefined) link.abort(end, call);
}

function advance(link: Link): void {
  link.advance(link.random.below(5) * 120);
}

function deliver(link: Link): void {
  eitherCarrier(link).deliver(1 + link.random.below(3));
}

function endHandler(link: Link): void {
  if (link.running.length === 0) return;
  const [running] = link.running.splice(link.random.below(link.running.length), 1);
  running?.end(link.random.chance(0.8) ? "result" : "failure");
}

function progress(link: Link): void {
  if (link.running.length === 0) return;
  const running = link.random.pick(link.running);
  running.steps += 1;
  running.work.progress(running.steps);
  running.at.told(running.work.nonce, running.steps, link.holds(running.at));
}

function caller(link: Link): End {
  return link.driver.bothWays && link.random.chance(0.3) ? link.far : link.near;
}

function eitherEnd(link: Link): End {
  return link.random.pick(link.ends);
}

function eitherCarrier(link: Link): Link["nearCarrier"] {
  return link.random.pick(link.transports);
}
