import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { codes as engineCodes } from "@parlance/mcp/jsonrpc";
import {
  codeReadings,
  methodCapabilities,
  methods,
  notifications,
  type Revision,
  revisions,
} from "@parlance/mcp/protocol";
import { expect, test } from "vitest";
import { explainErrorCode } from "../../packages/cli/src/commands/explain/codes.js";
import { factWords, word } from "../../packages/cli/src/commands/explain/revisions.js";
import { hosts } from "../../packages/cli/src/shared/target/host-table.js";
import { parlance } from "../cli/run.js";

// Pages of the reference are written from the data that the library and the command use themselves: `npm run docs:tables` writes
// them, and without it they must be as it would write them. The text above the marker is written by hand.

const folder = join(import.meta.dirname, "../../docs/reference");
const hostsPage = "../troubleshoot/hosts.md";
const marker = "<!-- The rest is written by npm run docs:tables. -->\n";

/** Holds a page against its text by hand and the lines that belong under it; an update writes them. */
async function expectPage(name: string, lines: readonly string[]): Promise<void> {
  const path = join(folder, name);
  const [byHand = ""] = (await readFile(path, "utf8")).split(marker);
  await expect([`${byHand}${marker}`, ...lines, ""].join("\n")).toMatchFileSnapshot(path);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const line = (cells: readonly string[]): string => `| ${cells.map(cellText).join(" | ")} |`;
  return [line(head), `|${head.map(() => "---").join("|")}|`, ...rows.map(line)];
}

/** Escapes what ends a cell, or is markup of the page. */
function cellText(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;");
}

const minus = (code: number | string): string => String(code).replace("-", "−");

test("the page on error codes is what parlance explain says", async () => {
  const codes = [...new Set([...codeReadings.map(({ code }) => code), ...Object.values(engineCodes)])];
  const rows = codes.flatMap((code) =>
    explainErrorCode(code).map(({ title, says, facts }) => {
      const fact = (label: string): string => facts.find((each) => each.label === label)?.text ?? "";
      const [name = "", origin = ""] = title.split(", ");
      return { code: minus(code), name, origin, says, fact, isOfficial: !title.includes("not in the specification") };
    }),
  );
  const official = rows.filter(({ isOfficial }) => isOfficial);
  const others = rows.filter(({ isOfficial }) => !isOfficial);
  await expectPage("error-codes.md", [
    "",
    "## Codes of JSON-RPC and MCP",
    "",
    ...table(
      ["code", "name", "meaning", "at fault", "revisions", "HTTP"],
      official.map(({ code, name, says, fact }) => [code, name, says, fact("at fault"), fact("in"), fact("HTTP")]),
    ),
    "",
    "## Codes that the specification does not have",
    "",
    ...table(
      ["code", "name", "sent by", "meaning", "at fault", "the specification has"],
      others.map(({ code, name, origin, says, fact }) => [
        code,
        name,
        origin.replace(/: not in the specification$/, ""),
        says,
        fact("at fault"),
        fact("instead"),
      ]),
    ),
  ]);
});

/** Which side may send a method or a notification in a revision. */
function senders({ requests, notifications: sent, inputRequests }: Revision, name: string): string {
  const has = (names: Iterable<string>): boolean => [...names].includes(name);
  const sides = [
    has(requests.client) || has(sent.client) ? "client" : undefined,
    has(requests.server) || has(sent.server) ? "server" : undefined,
    has(inputRequests) ? "server, as an input request" : undefined,
  ];
  return sides.filter((side) => side !== undefined).join(", ") || "–";
}

test("the page on revisions has the facts, methods and codes of all revisions", async () => {
  const versions = revisions.map(({ version }) => version);
  const capabilityOf = new Map<string, string>(methodCapabilities);
  const factNames = Object.keys(factWords) as readonly (keyof typeof factWords)[]; // The type of the table says so.
  const names = (all: Readonly<Record<string, string>>): readonly (readonly string[])[] =>
    Object.values(all).map((name) => [
      `\`${name}\``,
      ...revisions.map((each) => senders(each, name)),
      capabilityOf.get(name) ?? "",
    ]);
  const codeNames = Object.keys(revisions[0]?.codes ?? {}) as readonly (keyof Revision["codes"])[]; // The type of the table says so.
  await expectPage("revisions.md", [
    "",
    "## Features",
    "",
    ...table(
      ["feature", ...versions],
      [
        ["era", ...revisions.map(({ era }) => era)],
        ...factNames.map((name) => [factWords[name], ...revisions.map(({ facts }) => word(facts[name]))]),
      ],
    ),
    "",
    "## Requests",
    "",
    "The side that sends each request, and the capability of the receiver that it needs.",
    "",
    ...table(["request", ...versions, "capability"], names(methods)),
    "",
    "## Notifications",
    "",
    ...table(["notification", ...versions, "capability"], names(notifications)),
    "",
    "## Error codes",
    "",
    ...table(
      ["error", ...versions],
      codeNames.map((name) => [name, ...revisions.map(({ codes }) => minus(codes[name] ?? "–"))]),
    ),
  ]);
});

const platforms = [
  ["macOS", "darwin"],
  ["Windows", "win32"],
  ["Linux", "linux"],
] as const;
const anywhere = { platform: "linux", home: "~", folder: "<project>", env: {}, exists: () => false } as const;

/** The files of a host on a platform, with the parts that differ from user to user. */
function filesOf({ files }: (typeof hosts)[number], platform: NodeJS.Platform): readonly string[] {
  const isWindows = platform === "win32";
  const [home, folder] = isWindows ? ["%USERPROFILE%", "<project>"] : ["~", "<project>"];
  const env = isWindows ? { APPDATA: "%APPDATA%" } : {};
  const found = files({ platform, home, folder, env, exists: () => false });
  return [...new Set(found.map(({ path }) => `\`${path.replaceAll("\\", isWindows ? "\\" : "/")}\``))];
}

test("the page on hosts has the files that parlance wrap edits", async () => {
  const search = { shell: "of your shell", system: "of the system only" } as const;
  await expectPage(hostsPage, [
    "",
    "## Configuration files",
    "",
    "The files that `parlance wrap` reads and edits; the first one that has a server counts.",
    "",
    ...hosts.flatMap((host, index) => [
      ...(index === 0 ? [] : [""]),
      `**${host.title}** (\`${host.name}\`), section \`${host.files(anywhere)[0]?.section.at(-1)}\`, commands on the \`PATH\` ${search[host.commands]}:`,
      "",
      ...platforms.map(([title, platform]) => `- ${title}: ${filesOf(host, platform).join(", ")}`),
    ]),
  ]);
});

/** The groups of `parlance help`, each with the names of its commands. */
async function groupsOfHelp(): Promise<ReadonlyMap<string, readonly string[]>> {
  const { stdout } = await parlance(["help"]);
  const groups = new Map<string, string[]>();
  let names: string[] = [];
  for (const line of stdout.split("\n")) {
    const [, title] = /^(\w+):$/.exec(line) ?? [];
    const [, name] = /^ {2}(\w+) {2,}/.exec(line) ?? [];
    if (title !== undefined) {
      names = [];
      groups.set(title.toLowerCase(), names);
    } else if (name !== undefined) names.push(name);
  }
  groups.delete("options");
  return groups;
}

const groups = await groupsOfHelp();

test("every group of commands has a page, and no other page is there", async () => {
  const pages = await readdir(join(folder, "commands"));
  expect(pages.toSorted()).toEqual([...groups.keys()].map((group) => `${group}.md`).toSorted());
});

test.each([...groups])("the page on the commands under %s has their help", async (group, names) => {
  const sections = await Promise.all(
    names.map(async (name) => {
      const { stdout } = await parlance(["help", name], {
        COLUMNS: "100",
        PARLANCE_RECORDINGS: "~/.local/state/parlance/recordings",
        PARLANCE_CREDENTIALS: "~/.local/state/parlance/credentials.json",
      });
      return ["", `## ${name}`, "", "```", stdout.trimEnd(), "```"];
    }),
  );
  await expectPage(`commands/${group}.md`, sections.flat());
});
