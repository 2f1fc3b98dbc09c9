import { describe, expect, test } from "vitest";
import { isLong } from "../../testing/forms.js";
import { parse, textOf } from "../../testing/frames.js";
import { statelessCall } from "./asked.js";
import { doors, openSession } from "./handlers.js";
import { bodyRows } from "./rows/body-rows.js";
import { guardRows } from "./rows/guard-rows.js";
import { headerRows } from "./rows/header-rows.js";
import { mediaRows } from "./rows/media-rows.js";
import type { Row } from "./rows/row.js";
import { sessionRows } from "./rows/session-rows.js";
import { shop } from "./shop.js";
import type { Answer } from "./wire.js";

const rows = { guardRows, mediaRows, bodyRows, sessionRows, headerRows };

function expectRefusal({ status, headers, body }: Answer, row: Row): void {
  expect({ status, body }).toEqual({ status: row.status, body: expect.stringContaining(row.says ?? "") as unknown });
  for (const [name, value] of Object.entries(row.headers ?? {})) expect(headers.get(name)).toBe(value);
  if (row.code === undefined) {
    expect(body).toBe("");
    return;
  }
  expect(headers.get("content-type")).toBe("application/json");
  const { id, error } = parse(body);
  expect({ id, code: error?.code }).toEqual({ id: row.id, code: row.code });
}

describe.each(doors.map((door, turn) => ({ ...door, turn })))("on $on, a server turns away", ({ open, turn }) => {
  describe.each(Object.entries(rows))("%s", (_name, some) => {
    // The short form has each row at one of the doors, in turn.
    test.each(some.filter((_row, at) => isLong || at % doors.length === turn))("$name", async (row) => {
      const ran: string[] = [];
      await using door = await open(shop((tool) => ran.push(tool)));
      const opened = { session: await openSession(door), batching: await openSession(door, "2025-03-26") };
      const asked = typeof row.asked === "function" ? row.asked(opened) : row.asked;
      expectRefusal(await door.ask(asked), row);
      expect(ran, "what has run all the same").toEqual([]);
      const { status, body } = await door.ask(statelessCall("echo", { text: "alive" }));
      expect({ status, text: textOf(body) }).toEqual({ status: 200, text: "alive" });
    });
  });
});
