import { describe, expect, test } from "vitest";
import { driveHttp, driveStdio, type Script, serverFile, startHttp } from "../fixtures/conscience/driver.js";
import { misbehaviours } from "../fixtures/conscience/misbehaviours.js";

const scripts: readonly Script[] = Object.keys(misbehaviours).map((tool) => ({
  tool,
  ...(tool === "half-line" && { until: '"i' }),
  ...(tool === "three-writes" && { cues: 2 }),
}));

describe.each(scripts)("$tool", (script) => {
  test("says the same bytes twice on stdio", async () => {
    const [first, second] = [
      await driveStdio([process.execPath, serverFile], script),
      await driveStdio([process.execPath, serverFile], script),
    ];
    if (process.env.SHOW)
      console.log(script.tool, first.code, first.stderr, first.received.subarray(-400).toString("latin1"));
    expect(first.received.equals(second.received)).toBe(true);
  });
  test("says the same bytes twice over HTTP", async () => {
    await using one = await startHttp();
    const first = await driveHttp(one.url, script);
    await using two = await startHttp();
    const second = await driveHttp(two.url, script);
    if (process.env.SHOW)
      console.log(
        first
          .slice(3)
          .map((x) => [x.sent.slice(0, 80), x.status, x.complete, x.received.subarray(-300).toString("latin1")]),
      );
    expect(first).toEqual(second);
  });
});
