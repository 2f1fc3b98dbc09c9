import { answerer, decode, ExactNumber, encode, memoryChannels, openConnection, RpcError } from "@parlance/mcp/jsonrpc";
import { rawPeer } from "@parlance/mcp/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { success } from "../../../packages/mcp/src/jsonrpc/message.js";

const literals = [
  "12345678901234567890",
  "9007199254740993",
  "1.0",
  "-0",
  "-0.0",
  "1e400",
  "1E+2",
  "0.1000",
  "-1e-7",
  "7",
  "0.5",
];

/** The text of a JSON value whose strings look like anything, numbers and quotes among them. */
const { value: valueText } = fc.letrec<{ readonly value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(...literals, "null", "true"),
    fc
      .oneof(fc.string({ unit: "grapheme" }), fc.constantFrom("1.0", '"', "\\", '\\"1.0', "[-0,"))
      .map((text) => JSON.stringify(text)),
    fc.array(tie("value"), { maxLength: 4 }).map((elements) => `[${elements.join(",")}]`),
    fc.dictionary(fc.constantFrom("a", "b1.0", "-0", '"1e9', "\\"), tie("value"), { maxKeys: 4 }).map(
      (members) =>
        `{${Object.entries(members)
          .map(([key, text]) => `${JSON.stringify(key)}:${text}`)
          .join(",")}}`,
    ),
  ),
}));

describe("numbers that are kept as they were written", () => {
  test("come back from an echo as they came, whatever is around them", () => {
    const echo = answerer((_method, params) => (params as { readonly given: unknown }).given, { exactNumbers: true });
    fc.assert(
      fc.property(valueText, (text) => {
        const answer = echo(`{"jsonrpc":"2.0","id":1,"method":"echo","params":{"given":${text}}}`);
        expect(answer).toBe(`{"jsonrpc":"2.0","id":1,"result":${text}}`);
      }),
    );
  });

  test("come back from a value of a program, on one line or on many", () => {
    fc.assert(
      fc.property(valueText, (text) => {
        expect(ExactNumber.stringify(ExactNumber.parse(text))).toBe(text);
        expect(ExactNumber.stringify(ExactNumber.parse(ExactNumber.stringify(ExactNumber.parse(text), 2)))).toBe(text);
      }),
    );
    expect(ExactNumber.stringify(ExactNumber.parse('{"a":[1.0,"1.0",2]}'), 2)).toBe(
      '{\n  "a": [\n    1.0,\n    "1.0",\n    2\n  ]\n}',
    );
    expect(() => ExactNumber.parse("1.")).toThrow(SyntaxError);
  });

  test("are kept in results and in the data of errors too", async () => {
    const [here, there] = memoryChannels();
    const connection = openConnection(here, { exactNumbers: true });
    await using peer = rawPeer(there);
    const result = connection.call("one");
    await peer.next();
    peer.send('{"jsonrpc":"2.0","id":1,"result":{"n":1.0}}');
    expect(await result).toEqual({ n: new ExactNumber("1.0") });
    const failed = connection.call("other").catch((error: unknown) => error);
    await peer.next();
    peer.send('{"jsonrpc":"2.0","id":2,"error":{"code":1,"message":"no","data":[1e400]}}');
    expect(await failed).toBeInstanceOf(RpcError);
    expect(await failed).toMatchObject({ data: [new ExactNumber("1e400")] });
    await connection.close();
  });

  test("are doubles if they were not requested", () => {
    const echo = answerer((_method, params) => params);
    expect(echo('{"jsonrpc":"2.0","id":1,"method":"echo","params":[1.0]}')).toBe(
      '{"jsonrpc":"2.0","id":1,"result":[1]}',
    );
    expect(decode('{"jsonrpc":"2.0","id":1,"result":1.0}')).toEqual(success(1, 1));
  });

  test("are what a program makes of them", () => {
    expect(encode(success(1, [new ExactNumber("12345678901234567890")]))).toContain('"result":[12345678901234567890]');
    expect(JSON.stringify([new ExactNumber("1.0")])).toBe('["1.0"]'); // Whoever writes it without this library has a string.
  });
});
