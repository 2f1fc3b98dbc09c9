import { ExactNumber, type Id, type Limits, type Message, type Params, serverLimits } from "@parlance/mcp/jsonrpc";
import fc from "fast-check";
import { failure, notification, request, success } from "../../packages/mcp/src/jsonrpc/message.js";

/** Strings that JSON can hold and that trip parsers: halves of surrogate pairs, controls, quotes, names of `Object`. */
export const strings: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 6 }).map((units) => String.fromCharCode(...units)),
  fc.constantFrom(
    "__proto__",
    "constructor",
    "toString",
    "",
    "id",
    "\u2028\u2029",
    '\\"]}',
    "\r\n",
    "\ud800",
    "\udc00",
  ),
);

const numbers: fc.Arbitrary<number> = fc
  .oneof(fc.integer(), fc.maxSafeInteger(), fc.double({ noNaN: true, noDefaultInfinity: true }))
  .map((number) => number + 0); // A zero has no sign in what `JSON.stringify` writes.

const scalars: fc.Arbitrary<unknown> = fc.oneof(strings, numbers, fc.boolean(), fc.constant(null));

/** An object with these keys as its own, `__proto__` too. */
function objectOf(values: fc.Arbitrary<unknown>): fc.Arbitrary<Readonly<Record<string, unknown>>> {
  return fc.array(fc.tuple(strings, values), { maxLength: 4 }).map((members) => Object.fromEntries(members));
}

const shallow: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    scalars,
    fc.array(tie("value"), { maxLength: 4 }),
    objectOf(tie("value")),
  ),
})).value;

/** Any JSON value, sometimes deep. With the message around it, it stays within 64 levels. */
export const values: fc.Arbitrary<unknown> = fc
  .tuple(shallow, fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 56 })))
  .map(([value, levels]) => {
    let nested = value;
    for (let level = 0; level < levels; level += 1) nested = level % 2 === 0 ? [nested] : { a: nested };
    return nested;
  });

/** A JSON number, in any spelling. */
export const numberLiterals: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom("", "-"),
    fc.oneof(fc.bigInt({ min: 0n, max: 10n ** 30n }), fc.bigInt({ min: 0n, max: 99n })),
    fc.constantFrom("", ".0", ".5", ".50", ".000000000000000000001", ".0e0"),
    fc.constantFrom("", "", "e0", "E1", "e+2", "e-1", "e400", "E-400"),
  )
  .map(
    ([sign, digits, fraction, exponent]) =>
      `${sign}${digits}${fraction.includes("e") ? fraction : fraction + exponent}`,
  );

/** True for a literal that does not survive the way through a double and back. */
export function isInexact(literal: string): boolean {
  const number = Number(literal);
  return !Number.isSafeInteger(number) || Object.is(number, -0);
}

/** Ids as the engine holds them: a number only where it is exact. */
const ids: fc.Arbitrary<Id> = fc.oneof(
  strings,
  fc.maxSafeInteger(),
  fc.constant(null),
  numberLiterals.map((literal) => (isInexact(literal) ? new ExactNumber(literal) : Number(literal))),
);

const methods = strings.filter((name) => !name.startsWith("rpc."));
const params: fc.Arbitrary<Params | undefined> = fc.oneof(
  fc.constant(undefined),
  fc.array(values, { maxLength: 4 }),
  objectOf(values),
);
const codes = fc.oneof(fc.maxSafeInteger(), fc.integer({ min: -32_768, max: -32_000 }));
const errors = fc.oneof(
  fc.tuple(codes, strings).map(([code, message]) => ({ code, message })),
  fc.tuple(codes, strings, values).map(([code, message, data]) => ({ code, message, data })),
);

/** Every message that the base profile takes. */
export const messages: fc.Arbitrary<Message> = fc.oneof(
  fc.tuple(ids, methods, params).map(([id, method, given]) => request(id, method, given)),
  fc.tuple(methods, params).map(([method, given]) => notification(method, given)),
  fc.tuple(ids, values).map(([id, result]) => success(id, result)),
  fc.tuple(ids, errors).map(([id, error]) => failure(id, error)),
);

/** Some limits so low that they are met, some lifted. */
export const limits: fc.Arbitrary<Limits> = fc
  .record(
    Object.fromEntries(
      Object.entries(serverLimits).map(([name, usual]) => [
        name,
        fc.oneof(fc.constant(usual), fc.integer({ min: 0, max: 60 }), fc.constant(Number.POSITIVE_INFINITY)),
      ]),
    ),
  )
  .map((settings) => ({ ...serverLimits, ...settings }));

const members = ["jsonrpc", "id", "method", "params", "result", "error"] as const;
const oddities: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    1,
    -1,
    1.5,
    2,
    1e300,
    "",
    "2.0",
    "1.0",
    "x",
    "123456789",
    "rpc.",
    "rpc.x",
  ),
  fc.constantFrom<unknown>(
    [],
    {},
    [1],
    { code: 1 },
    { message: "" },
    { code: 1.5, message: "" },
    { code: 1, message: 1 },
  ),
  fc.constantFrom<unknown>({ code: "1", message: "" }, { code: 1, message: "", data: null }, [
    { code: 1, message: "" },
  ]),
  shallow,
);

/** Messages with a few of their members taken away or replaced; sometimes anything at all. */
export const nearMessages: fc.Arbitrary<unknown> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc
      .tuple(
        fc.constantFrom<Readonly<Record<string, unknown>>>(
          { jsonrpc: "2.0", id: 1, method: "x" },
          { jsonrpc: "2.0", method: "x", params: {} },
          { jsonrpc: "2.0", id: "a", method: "x", params: [1] },
          { jsonrpc: "2.0", id: 1, result: null },
          { jsonrpc: "2.0", id: null, error: { code: 1, message: "" } },
          { jsonrpc: "2.0", error: { code: 1, message: "" } },
          {},
        ),
        fc.array(fc.tuple(fc.constantFrom(...members), fc.option(oddities, { nil: undefined })), { maxLength: 3 }),
      )
      .map(
        ([message, changes]) => JSON.parse(JSON.stringify({ ...message, ...Object.fromEntries(changes) })) as unknown,
      ),
  },
  { weight: 1, arbitrary: oddities },
);
