import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { behaviours } from "../matrix/behaviours.js";
import { clientDriver } from "../matrix/client-driver.js";
import type { Driver, DriverKind, Opening } from "../matrix/driver.js";
import { rawDriver } from "../matrix/raw-driver.js";
import type { Carried } from "../matrix/transports.js";
import { violations } from "../oracle/violations.js";
import { turn } from "../testing/talks.js";
import { type Bridged, bridged } from "./bridged.js";

const drivers: Readonly<Record<DriverKind, (opening: Opening) => Promise<Driver>>> = {
  client: clientDriver,
  "raw peer": rawDriver,
};

/** The newest of each era. */
const eras = ["2025-11-25", "2026-07-28"];

/** A peer without this library sees the same on every transport, so it uses one of them. */
const kindsOn = (transports: string): readonly DriverKind[] =>
  transports === "memory to memory" ? ["client", "raw peer"] : ["client"];

const combinations = [...bridged.keys()].flatMap((transports) =>
  eras.flatMap((near) =>
    eras.flatMap((far) => kindsOn(transports).map((kind) => [transports, near, far, kind] as const)),
  ),
);

interface Talk {
  readonly driver: Driver;
  readonly carried: Carried;
}

describe.each(combinations)("bridged %s, %s to %s, by %s:", (transports, near, far, kind) => {
  const talks: Talk[] = [];

  async function talk(capable: boolean): Promise<Talk> {
    const carried = await (bridged.get(transports) as Bridged)(far);
    return { carried, driver: await drivers[kind]({ revision: near, far, capable, ...carried }) };
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
    if (unsound) violations.splice(0);
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
