import fc from "fast-check";
import { expect, test } from "vitest";
import { SmallMap } from "../../packages/mcp/src/base/small-map.js";

test("has the entries that a Map has, whatever is set and deleted", () => {
  const keys = [0, 1, 2, 3];
  const step = fc.record({ key: fc.constantFrom(...keys), value: fc.option(fc.nat(), { nil: undefined }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const [small, map] = [new SmallMap<number, number>(), new Map<number, number>()];
      for (const { key, value } of steps) {
        if (value === undefined) expect(small.delete(key)).toBe(map.delete(key));
        else {
          small.set(key, value);
          map.set(key, value);
        }
        expect(small.size).toBe(map.size);
        expect(keys.map((each) => small.get(each))).toEqual(keys.map((each) => map.get(each)));
        expect([...small.values()].toSorted()).toEqual([...map.values()].toSorted());
      }
    }),
  );
});
