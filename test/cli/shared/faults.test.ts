import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Entry, type FrameEntry, readRecording } from "@parlance/wire";
import { describe, expect, test } from "vitest";
import { recorded } from "../../wire/recording/recorded.js";
import { parlance, type Ran, toolsServer } from "../run.js";
import { Scratch } from "../scratch.js";

const main = fileURLToPath(new URL("../../../packages/cli/dist/parlance.js", import.meta.url));

/** Gives lines to the command, and then the end. */
function say(args: readonly string[], ...lines: readonly string[]): Promise<Ran> {
  const child = spawn(process.execPath, [main, ...args]);
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("latin1").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  child.stdin.end(lines.map((line) => `${line}\n`).join(""));
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, stdout, stderr })));
}

const ping = (id: number): string => `{"jsonrpc":"2.0","id":${id},"method":"ping"}`;
const pong = (id: number): string => `{"jsonrpc":"2.0","id":${id},"result":{}}`;

const pings = [1, 2, 3, 4].flatMap((id) => [`→ ${ping(id)}`, `← ${pong(id)}`] as const);

/** The frames that four pings of a recorded server become. */
async function played(fault: string, seed = 7): Promise<Ran> {
  using scratch = new Scratch();
  const path = scratch.write("a.jsonl", recorded(...pings));
  const args = ["replay", path, "--as", "server", "--match", "method", "--fault", fault, "--seed", String(seed)];
  return await say(args, ping(1), ping(2), ping(3), ping(4));
}

/** The lines of an output. */
const lines = ({ stdout }: Ran): readonly string[] => stdout.trimEnd().split("\n");

describe("a fault on what a filter chooses", () => {
  const rest = [1, 3, 4].map(pong);
  const cases: readonly (readonly [fault: string, expected: readonly string[]])[] = [
    ["drop", rest],
    ["dup", [pong(1), pong(2), pong(2), pong(3), pong(4)]],
    ["wrong-id", [pong(1), pong(29), pong(3), pong(4)]],
    ["string-id", [pong(1), '{"jsonrpc":"2.0","id":"2","result":{}}', pong(3), pong(4)]],
    ["truncate 50%", [pong(1), pong(2).slice(0, Math.floor(pong(2).length / 2)), pong(3), pong(4)]],
    ["split 3x5ms", [1, 2, 3, 4].map(pong)],
    ['noise "[debug] \\"x\\""', [pong(1), '[debug] "x"', pong(2), pong(3), pong(4)]],
    ["delay 300ms", [...rest, pong(2)]],
    ["close", [pong(1)]],
  ];
  for (const [fault, expected] of cases)
    test(fault, async () => {
      expect(lines(await played(`id:2 dir:s2c => ${fault}`))).toEqual(expected);
    });

  test("exit 3", async () => {
    const ran = await played("id:2 => exit 3");
    expect(ran).toMatchObject({ code: 3, stdout: `${pong(1)}\n` });
  });

  test('stderr "text"', async () => {
    expect((await played('id:2 => stderr "out of memory"')).stderr).toMatch(/^out of memory\n/);
  });
});

test("chances are those of the seed", async () => {
  const [first, again, other] = [
    await played("kind:res => corrupt"),
    await played("kind:res => corrupt"),
    await played("kind:res => corrupt", 8),
  ];
  expect(first.stdout).toBe(again.stdout);
  expect(first.stdout).not.toBe(other.stdout);
  expect(first.stdout).toHaveLength([1, 2, 3, 4].map(pong).join("\n").length + 1);
});

test("frames that are reordered are all passed on, and none at its place", async () => {
  const order = lines(await played("kind:res => reorder 4"));
  expect([...order].sort()).toEqual([1, 2, 3, 4].map(pong));
  order.forEach((line, at) => {
    expect(line).not.toBe(pong(at + 1));
  });
});

test("a tap with faults records what came, which rule was followed, and what was passed on", async () => {
  using scratch = new Scratch();
  const path = scratch.at("run.parlance.jsonl");
  const fault = "kind:res => corrupt byte@2";
  const ran = await say(["tap", "--record", path, "--fault", fault, "--seed", "7", ...toolsServer], ping(1));
  const { entries, damages } = readRecording(readFileSync(path));
  expect(damages).toEqual([]);
  const frames = entries.filter((entry): entry is FrameEntry => entry.k === "f");
  expect(frames.map(({ d, raw, by, of }) => ({ d, raw, by, of }))).toEqual([
    { d: "c2s", raw: ping(1), by: undefined, of: undefined },
    { d: "s2c", raw: pong(1), by: undefined, of: undefined },
    { d: "s2c", raw: ran.stdout.trimEnd(), by: "mutate", of: frames[1]?.n },
  ]);
  expect(ran.stdout).not.toBe(`${pong(1)}\n`);
  const rules = entries.flatMap((entry: Entry) => (entry.k === "r" ? [[entry.fault, entry.of]] : []));
  expect(rules).toEqual([
    [fault, undefined],
    [fault, frames[1]?.n],
  ]);
});

test("a fault that cannot be read, or is none of stdio, says so", async () => {
  for (const [fault, words] of [
    ["tool:x", "it must be a filter, => and a fault"],
    ["tool:x => explode", "it must be a filter, => and a fault"],
    ["tool: => drop", "the filter cannot be read"],
    ["tool:x => http 429 retry-after 2", "http is no fault of stdio"],
  ] as const) {
    const { code, stderr } = await parlance(["tap", "--fault", fault, ...toolsServer]);
    expect(stderr).toContain(words);
    expect(code).toBe(1);
  }
});
