import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { violations } from "../oracle/violations.js";
import { inForm } from "../testing/forms.js";
import { turn } from "../testing/talks.js";
import { behaviours } from "./behaviours.js";
import { clientDriver } from "./client-driver.js";
import { revisions } from "./differences.js";
import type { Driver, DriverKind, Opening } from "./driver.js";
import { rawDriver } from "./raw-driver.js";
import { type Carried, carries, endFarEnds, transports } from "./transports.js";

const drivers: Readonly<Record<DriverKind, (opening: Opening) => Promise<Driver>>> = {
  client: clientDriver,
  "raw peer": rawDriver,
};

/** One conversation for all behaviours: what one of them leaves behind, another stumbles over. */
interface Talk {
  readonly driver: Driver;
  readonly carried: Carried;
}

const kinds = ["client", "raw peer"] as const;

const all = Object.keys(transports).flatMap((transport) =>
  revisions
    .filter((revision) => carries(transport, revision))
    .flatMap((revision) => kinds.map((kind) => [transport, revision, kind] as const)),
);

/** The short form: every revision in memory, and every other transport in one revision, by one of the kinds in turn. */
const diagonal = Object.keys(transports).flatMap((transport, at) => {
  const own = all.filter(([name]) => name === transport);
  return transport === "memory"
    ? own.filter((_own, place) => place % 4 === 0 || place % 4 === 3)
    : own.slice(at % own.length).slice(0, 1);
});

const combinations = inForm({ long: all, short: diagonal });

afterAll(endFarEnds);

describe.each(combinations)("over %s in %s, by %s:", (transport, revision, kind) => {
  const talks: Talk[] = [];

  async function talk(capable: boolean): Promise<Talk> {
    const carried = await (transports[transport] as () => Carried | Promise<Carried>)();
    return { carried, driver: await drivers[kind]({ revision, capable, ...carried }) };
  }

  beforeAll(async () => {
    talks.push(...(await Promise.all([talk(true), talk(false)])));
  });

  afterAll(async () => {
    for (const { driver } of talks) await driver.close();
  });

  test.each(behaviours.map((behaviour) => [behaviour.name, behaviour] as const))("%s", async (_name, behaviour) => {
    const { bare = false, unsound = false, run } = behaviour;
    const { driver } = talks[bare ? 1 : 0] as Talk;
    await run(driver);
    await turn();
    // Written bytes are kept until the other end has confirmed them.
    await vi.waitFor(() => driver.assertAtRest(), { timeout: 60_000, interval: 5 });
    if (unsound && kind === "client") expect(violations.splice(0), "what the oracle has seen").not.toEqual([]);
  });

  test("in the end nothing is under way, and nothing is left", async () => {
    for (const { driver, carried } of talks.splice(0)) {
      await vi.waitFor(() => driver.assertAtRest(), { timeout: 60_000, interval: 5 });
      await driver.close();
      await carried.assertGone();
    }
    expect(talks).toEqual([]);
  });
});
