import { answerer } from "@parlance/mcp/jsonrpc";
import { describe, expect, test } from "vitest";
import { held, requestText, successText } from "./held.js";
import { createMethods } from "./methods.js";
import { type Row, smallInputs } from "./server-rows.js";
import { specificationExamples } from "./specification-rows.js";
import { expectAlive, type Transport, transports } from "./transports.js";
import { bare, invalid } from "./wire.js";

describe.each(transports)("over $name", (transport) => {
  describe("an example of the specification is answered as it says, and the connection lives", () => {
    test.each(rowsFor(transport, specificationExamples))("$name", (row) => expectAnswers(transport, row));
  });

  describe("a small input has its required answer, and the connection lives", () => {
    test.each(rowsFor(transport, smallInputs))("$name", (row) => expectAnswers(transport, row));
  });
});

describe("without a connection, frame by frame, the same", () => {
  const inMemory = [...specificationExamples, ...smallInputs].filter(({ on }) => on?.includes("memory") ?? true);

  test.each(inMemory)("$name", async ({ sent, answers, notes = [] }) => {
    const noted: unknown[] = [];
    const answer = answerer(createMethods((params) => void noted.push(params)).call);
    const given = await Promise.all([sent].flat().map((frame) => answer(frame)));
    expect(given.flatMap((text) => (text === undefined ? [] : [bare(text)]))).toEqual(answers.map(bare));
    expect(noted).toEqual(notes);
  });

  test("a batch is answered when its last handler is done", async () => {
    const { call, run } = held();
    const answer = answerer(call)(
      `[${requestText("1", "slow")},${requestText("2", "ping")},${requestText("2", "ping")}]`,
    );
    run("slow").answer("done");
    expect(bare((await answer) ?? "")).toBe(
      bare(`[${successText("1", '"done"')},${successText("2", '"pong"')},${invalid("2")}]`),
    );
  });
});

function rowsFor({ name }: Transport, rows: readonly Row[]): readonly Row[] {
  return rows.filter(({ on }) => on === undefined || on.includes(name));
}

async function expectAnswers(transport: Transport, { sent, answers, notes = [] }: Row): Promise<void> {
  const noted: unknown[] = [];
  const methods = createMethods((params) => void noted.push(params));
  await using talk = transport.open({ handle: methods.call });
  for (const frame of [sent].flat()) talk.peer.send(frame);
  for (const answer of answers) expect(bare(await talk.peer.next())).toBe(bare(answer));
  await expectAlive(talk);
  expect(noted).toEqual(notes);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
}
