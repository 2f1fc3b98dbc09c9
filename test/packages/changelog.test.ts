import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";

// https://keepachangelog.com/en/1.1.0/: the newest version first, its date, and groups of changes with fixed names.

const text = await readFile(join(import.meta.dirname, "../../CHANGELOG.md"), "utf8");
const groups = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"];

interface Section {
  readonly heading: string;
  readonly groups: readonly { readonly name: string; readonly body: string }[];
  /** The text before the first group. */
  readonly preface: string;
}

function parseChangelog(markdown: string): readonly Section[] {
  const [, ...sections] = markdown.split(/^## /m);
  return sections.map((section) => {
    const [preface = "", ...parts] = section.split(/^### /m);
    const [heading = "", ...rest] = preface.split("\n");
    const named = parts.map((part) => {
      const [name = "", ...body] = part.split("\n");
      return { name, body: body.join("\n").trim() };
    });
    return { heading, groups: named, preface: rest.join("\n").trim() };
  });
}

const sections = parseChangelog(text);

test("the changelog begins with what is not released", () => {
  expect(text).toMatch(/^# Changelog\n/);
  expect(sections[0]?.heading).toBe("[Unreleased]");
});

test("versions have a date, and descend", () => {
  const released = sections.slice(1).map(({ heading }) => heading);
  for (const heading of released) expect(heading).toMatch(/^\[\d+\.\d+\.\d+\] - \d{4}-\d{2}-\d{2}$/);
  const order = released.map((heading) => heading.replace(/\d+/g, (digits) => digits.padStart(6, "0")));
  expect(order).toEqual([...order].sort().reverse());
});

test.each(sections)(
  "$heading: groups have the known names, once each, and list changes",
  ({ groups: found, preface }) => {
    const names = found.map(({ name }) => name);
    expect(names).toEqual(groups.filter((name) => names.includes(name)));
    for (const { body } of found) expect(body).toMatch(/^- /m);
    expect(preface).not.toMatch(/^- /m);
  },
);

test("every section has a link to its commits", () => {
  for (const { heading } of sections) {
    const name = /^\[[^\]]+\]/.exec(heading)?.[0] ?? heading;
    expect(text).toMatch(new RegExp(`^${name.replace(/[[\].]/g, "\\$&")}: https://`, "m"));
  }
});
