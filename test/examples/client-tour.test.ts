import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { latest, latestHandshake, versions } from "@parlance/mcp";
import { connect } from "@parlance/mcp/client";
import { createServer } from "@parlance/mcp/server";
import { beforeAll, describe, expect, test } from "vitest";
import { inForm, isLong } from "../testing/forms.js";
import { serverProcess } from "../testing/processes.js";
import { program as gitServer } from "./git-client.js";

const folder = join(import.meta.dirname, "../../examples/client-tour");
const run = promisify(execFile);

const heading = "\n## Output\n";
const olderHeading = `
## In older revisions

The same program with \`--revision\`, as a diff with the revision before: \`-\` lines are removed, \`+\` lines are added.
`;

/** The output of the tour. Rejects when it exits with any code but 0. */
async function tour(...args: string[]): Promise<string> {
  const { stdout, stderr } = await run(process.execPath, ["tour.js", ...args], { cwd: folder });
  expect(stderr).toBe("");
  return stdout;
}

const printed = new Map<string, string>();

/** The short form sees the tour in one revision of each era. */
const toured = inForm({ long: versions, short: [latestHandshake.version, latest.version] });

beforeAll(async () => {
  for (const version of toured) printed.set(version, await tour("--revision", version));
});

/** All that a client has, by the path to it: `revision`, `tools.call` and so on. */
async function verbs(): Promise<string[]> {
  await using client = await connect(createServer({ name: "empty", version: "1" }));
  const membersOf = (object: object): string[] =>
    Object.getOwnPropertyNames(Object.getPrototypeOf(object)).filter((name) => name !== "constructor");
  const groups = ["tools", "resources", "prompts", "tasks"] as const;
  expect(Object.keys(client)).toEqual(groups);
  return [
    ...membersOf(client),
    ...groups.flatMap((group) => membersOf(client[group]).map((name) => `${group}.${name}`)),
  ];
}

describe.each(toured)("the tour in %s", (version) => {
  test("shows everything that a client has", async () => {
    const all = await verbs();
    const shown = printed.get(version) ?? "";
    expect(all.filter((verb) => !new RegExp(`\\bclient\\.${verb}\\b`).test(shown))).toEqual([]);
    expect(shown).toContain(`\n${all.length} of ${all.length} methods of a client were used\n`);
  });

  test("stays within 120 columns", () => {
    const lines = printed.get(version)?.split("\n") ?? [];
    expect(lines.length).toBeGreaterThan(100);
    expect(lines.filter((line) => line.length > 120)).toEqual([]);
  });
});

test.runIf(isLong)(
  "the README shows what the tour prints, and how it differs between revisions: vitest -u writes it anew",
  async () => {
    const path = join(folder, "README.md");
    const [head = ""] = (await readFile(path, "utf8")).split(heading);
    const older = versions.slice(1).map((version, index) => {
      const difference = differenceOf(linesOf(versions[index]), linesOf(version));
      return `\n${version}:\n\n\`\`\`diff\n${difference.join("\n")}\n\`\`\`\n`;
    });
    const whole = `${head}${heading}\n\`\`\`text\n${printed.get(latest.version)}\`\`\`\n${olderHeading}${older.join("")}`;
    await expect(whole).toMatchFileSnapshot(path);
  },
);

test("the tour finds out which revision is the newest", async () => {
  expect(await tour()).toBe(printed.get(latest.version));
});

describe.each([latest.version, latestHandshake.version])("the tour through another server, in %s", (revision) => {
  // In the short form each in one revision.
  test.runIf(isLong || revision === latest.version)("names what it does not offer, and calls no tool", async () => {
    const { command, args = [] } = serverProcess(`server.tool("one", {}, () => "");`);
    const shown = await tour("--revision", revision, "--", command, ...args);
    expect(shown).toMatch(/client\.tools\.list\(\)\.all\(\) +1 in all/);
    expect(shown).toMatch(/client\.resources\.list\(\)\.all\(\) +LocalError refused: resources\/list:/);
    expect(shown).toMatch(/client\.prompts\.list\(\)\.all\(\) +LocalError refused: prompts\/list:/);
    expect(shown).not.toContain("client.tools.call");
  });

  test.runIf(isLong || revision !== latest.version)("reads and prompts what it offers", async () => {
    const shown = await tour("--revision", revision, "--", process.execPath, gitServer, join(folder, "../.."));
    expect(shown).toContain("git_status git_log git_diff git_show git_blame");
    expect(shown).toMatch(/client\.resources\.list\(\)\.all\(\) +staged log/);
  });
});

test("the tour says why it cannot begin", async () => {
  const missing = tour("--", "no-such-command-anywhere");
  await expect(missing).rejects.toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(/^client-tour: .*\n$/) as unknown,
  });
});

function linesOf(version = ""): readonly string[] {
  return printed.get(version)?.split("\n") ?? [];
}

/** The lines that went and those that came, by the longest common subsequence. */
function differenceOf(before: readonly string[], after: readonly string[]): readonly string[] {
  const common = Array.from({ length: before.length + 1 }, () => new Array<number>(after.length + 1).fill(0));
  const at = (row: number, column: number): number => common[row]?.[column] ?? 0;
  for (let row = before.length - 1; row >= 0; row -= 1) {
    for (let column = after.length - 1; column >= 0; column -= 1) {
      const isSame = before[row] === after[column];
      const longest = isSame ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
      common[row]?.splice(column, 1, longest);
    }
  }
  const difference: string[] = [];
  for (let row = 0, column = 0; row < before.length || column < after.length; ) {
    if (row < before.length && before[row] === after[column]) {
      row += 1;
      column += 1;
    } else if (column === after.length || (row < before.length && at(row + 1, column) >= at(row, column + 1))) {
      difference.push(`-${before[row]}`);
      row += 1;
    } else {
      difference.push(`+${after[column]}`);
      column += 1;
    }
  }
  return difference;
}
