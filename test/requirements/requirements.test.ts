import { existsSync, readFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import type { Group, Proof } from "./requirement.js";
import { groups } from "./requirements.js";

const root = new URL("../../", import.meta.url);
/** The rules that the manifest was made from. They are not part of this repository. */
const rules = new URL("../shared/reference/protocol-map.md", root);
const all = groups.flatMap(({ requirements }) => requirements);

/** Whether a file has that text outside of its comments. */
function isThere({ file, test: title }: Proof): boolean {
  const path = new URL(file, root);
  if (!existsSync(path)) return false;
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.some((line) => line.includes(title) && !/^\s*(?:\/\/|\/?\*)/.test(line));
}

/** The ids of the rules that are marked as a must, in the parts about the protocol itself. */
function mustsOf(text: string): readonly string[] {
  const part = text.slice(text.indexOf("\n## 1."), text.indexOf("\n## 6."));
  return [...part.matchAll(/\*\*(?<id>[A-Z]{1,2}-\d+) M\b/g)].map(({ groups: found }) => found?.id ?? "");
}

describe("the manifest of requirements", () => {
  test("gives every rule one id, under the prefix of its group", () => {
    const ids = all.map(({ id }) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    for (const { prefix, requirements } of groups) {
      const strangers = requirements.filter(({ id }) => !new RegExp(`^${prefix}-\\d+[a-z]?$`).test(id));
      expect(strangers).toEqual([]);
    }
  });

  test("has a proof of every rule, or a reason why there is none", () => {
    const undecided = all.filter(
      ({ proved, later }) => (proved === undefined) === (later === undefined) || proved?.length === 0 || later === "",
    );
    expect(undecided).toEqual([]);
    expect(all.filter(({ says }) => !says.endsWith("."))).toEqual([]);
  });

  test("cites tests that exist", () => {
    const missing = all.flatMap(({ id, proved = [] }) =>
      proved.filter((proof) => !isThere(proof)).map((proof) => ({ id, ...proof })),
    );
    expect(missing).toEqual([]);
  });

  test.skipIf(!existsSync(rules))("has every must, where ../shared/reference has the rules", () => {
    const musts = mustsOf(readFileSync(rules, "utf8"));
    const known = new Set(all.map(({ id }) => id.replace(/[a-z]$/, "")));
    expect(musts.length).toBeGreaterThan(0);
    expect(musts.filter((id) => !known.has(id))).toEqual([]);
  });
});

// `npm run requirements` is for reading; a run of all tests is not.
afterAll(() => {
  if (process.env.npm_lifecycle_event === "requirements") process.stdout.write(`${coverage(groups)}\n`);
});

function coverage(of: readonly Group[]): string {
  const rows = of.map(({ name, requirements }) => row(name, requirements));
  return [columns(["group", "proved", "later", "total", "MUST"]), ...rows, row("all", all)].join("\n");
}

/** The last figure: how many musts are proved, of how many there are. */
function row(name: string, requirements: Group["requirements"]): string {
  const proved = requirements.filter((each) => each.proved !== undefined);
  const musts = [proved, requirements].map((some) => some.filter(({ level }) => level === "MUST").length);
  const figures = [proved.length, requirements.length - proved.length, requirements.length];
  return columns([name, ...figures.map(String), musts.join("/")]);
}

function columns([name = "", ...figures]: readonly string[]): string {
  return [name.padEnd(18), ...figures.map((figure) => figure.padStart(7))].join(" ");
}
