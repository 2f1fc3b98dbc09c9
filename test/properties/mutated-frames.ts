import type { Random } from "./random.js";

type Base = (id: string, number: number) => string;

const call = (id: string, method: string, params: string): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`;

/** Every kind of frame a server can meet, each with an id that no other frame has, if it has any. */
const bases: readonly Base[] = [
  (id) => call(id, "echo", '{"text":"é漢😀\\n","list":[1,-2.5e3,null,true,{}]}'),
  (id) => call(id, "echo", '[[[[{"a":[[]]}]]],"\\ud800","\\u0000"]'),
  (id) => call(id, "echo", '{"__proto__":{"polluted":1},"constructor":{"prototype":[]}}'),
  (id) => call(id, "later", '{"nested":{"quotes":"\\"}]","slash":"\\\\"}}'),
  (id) => call(id, "later", "[]"),
  (id) => call(id, "fail", "{}"),
  (id) => call(id, "refuse", '["why"]'),
  (id) => call(id, "unknown", "[1]"),
  (id) => call(id, "__proto__", "{}"),
  (id) => call(id, "rpc.discover", "{}"),
  (id) => ` {\t"params" : [ 1 ] , "id" : ${id} ,\r"method":"echo" , "jsonrpc" : "2.0" } `,
  (id) => `{"jsonrpc":"2.0","id":${id},"method":"echo"}`,
  (id) => `{"jsonrpc":"2.0","id":${id},"method":"echo","params":"bar"}`,
  (id) => `{"jsonrpc":"2.0","id":${id},"method":1}`,
  (id) => `{"jsonrpc":"1.0","id":${id},"method":"echo"}`,
  (id) => `{"id":${id},"method":"echo"}`,
  (id) => `{"jsonrpc":"2.0","id":${id}}`,
  (id) => `{"jsonrpc":"2.0","id":${id},"method":"echo","result":1}`,
  (id) => `{"jsonrpc":"2.0","id":[${id}],"method":"echo"}`,
  (id) => `{"jsonrpc":"2.0","id":0,"method":"echo","id":${id}}`,
  (id) => `{"jsonrpc":"2.0","id":${id},"result":{"a":1}}`,
  (id) => `{"jsonrpc":"2.0","id":${id},"error":{"code":-1,"message":"no","data":[]}}`,
  (id) => `{"jsonrpc":"2.0","id":${id},"result":1,"error":{"code":1.5}}`,
  (id) => `{"jsonrpc":"2.0","method":"echo","params":{"id":${id}}}`,
  (id) => `{"jsonrpc":"2.0","method":"fail","params":[${id}]}`,
  (id) => `{"jsonrpc":"2.0","method":"unknown","params":${id}}`,
  (id) => `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":${id}}}`,
  (id, number) =>
    `[${call(id, "later", "[1]")},${call(`"second of ${number}"`, "echo", "[]")},{"jsonrpc":"2.0","method":"echo"},1]`,
  (id) => `[{"jsonrpc":"2.0","method":"later","params":[${id}]},{"jsonrpc":"2.0","id":${id},"result":null}]`,
  (id) => `[${id},[],{}]`,
  () => "[]",
  () => "null",
  () => '"{}"',
  () => "Content-Length: 17\r",
];

/** An id of each kind, with `number` in it. */
const ids: readonly ((number: number) => string)[] = [
  (number) => `"r${number}"`,
  (number) => `"漢\\u00e9 ${number}"`,
  (number) => `${1_000_000 + number}`,
  (number) => `${9_007_199_254_740_993n + BigInt(number)}`,
  (number) => `-${number}.50`,
  (number) => `${number}e400`,
];

const newline = 0x0a;
const space = 0x20;
/** A mutated line stays clear of the bounds, which have tests of their own. */
const longest = 2_000;
const mostBrackets = 60;

/** One line without its newline. */
export function mutatedFrame(random: Random, number: number): Uint8Array {
  const base = baseFrame(random, number);
  if (random.chance(0.2)) return base;
  let frame = base;
  const choices = random.chance(0.5) ? byteMutators : tokenMutators;
  for (let times = 1 + random.below(3); times > 0; times -= 1) {
    frame = random.pick(choices)(frame, random, () => baseFrame(random, number));
  }
  // A newline would make two frames of one.
  frame = frame.map((byte) => (byte === newline ? space : byte));
  const brackets = frame.reduce((count, byte) => (byte === 0x5b || byte === 0x7b ? count + 1 : count), 0);
  return frame.length > longest || brackets > mostBrackets ? base : frame;
}

function baseFrame(random: Random, number: number): Uint8Array {
  return bytesOf(random.pick(bases)(random.pick(ids)(number), number));
}

type Mutator = (frame: Uint8Array, random: Random, another: () => Uint8Array) => Uint8Array;

const byteMutators: readonly Mutator[] = [
  function flip(frame, random) {
    const flipped = frame.slice();
    const at = random.below(frame.length);
    flipped[at] = (flipped[at] ?? 0) ^ (1 << random.below(8));
    return flipped;
  },
  function drop(frame, random) {
    const [from, to] = slice(frame, random);
    return concat(frame.subarray(0, from), frame.subarray(to));
  },
  function repeat(frame, random) {
    const [from, to] = slice(frame, random);
    return concat(frame.subarray(0, to), frame.subarray(from));
  },
  function insert(frame, random) {
    const at = random.below(frame.length + 1);
    return concat(frame.subarray(0, at), random.pick(insertions), frame.subarray(at));
  },
  function cut(frame, random) {
    return frame.subarray(0, random.below(frame.length + 1));
  },
  function swap(frame, random) {
    const swapped = frame.slice();
    const [one, other] = [random.below(frame.length), random.below(frame.length)];
    swapped[one] = frame[other] ?? 0;
    swapped[other] = frame[one] ?? 0;
    return swapped;
  },
  function splice(frame, random, another) {
    const tail = another();
    return concat(frame.subarray(0, random.below(frame.length + 1)), tail.subarray(random.below(tail.length + 1)));
  },
];

const token = /"(?:[^"\\]|\\.)*"|[^\s"{}[\]:,]+/g;
const tokens = [
  '"jsonrpc"',
  '"2.0"',
  '"id"',
  '"method"',
  '"params"',
  '"result"',
  '"error"',
  '"code"',
  '"message"',
  '"echo"',
];
const scalars = [
  "null",
  "true",
  "0",
  "-0",
  "1.0",
  "1e3",
  '""',
  '"rpc.x"',
  '"\\u0069d"',
  "[]",
  "{}",
  '{"id":1}',
  "[[]]",
];

/** These leave JSON what is JSON, so that the fault lies in the message. */
const tokenMutators: readonly Mutator[] = [
  function replace(frame, random) {
    const text = new TextDecoder().decode(frame);
    const found = [...text.matchAll(token)];
    const at = random.below(found.length);
    let index = -1;
    return bytesOf(
      text.replace(token, (each) => {
        index += 1;
        return index === at ? random.pick(random.chance(0.5) ? tokens : scalars) : each;
      }),
    );
  },
  function exchange(frame, random) {
    const text = new TextDecoder().decode(frame);
    const found = text.match(token) ?? [];
    const [one, other] = [random.below(found.length), random.below(found.length)];
    let index = -1;
    return bytesOf(
      text.replace(token, (each) => {
        index += 1;
        return (index === one ? found[other] : index === other ? found[one] : undefined) ?? each;
      }),
    );
  },
  function addMember(frame, random) {
    const text = new TextDecoder().decode(frame);
    const member = `${random.pick(tokens)}:${random.pick(scalars)}`;
    const last = text.lastIndexOf("}");
    return last < 0 ? frame : bytesOf(`${text.slice(0, last)},${member}${text.slice(last)}`);
  },
  function wrap(frame, random, another) {
    const [one, other] = [frame, another()].map((each) => new TextDecoder().decode(each));
    return bytesOf(random.pick([`[${one}]`, `[${one},${other}]`, `[${other} ,${one}]`]));
  },
];

const insertions: readonly Uint8Array[] = [
  ...[
    '"',
    "\\",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "0",
    "-",
    "e",
    "\0",
    "\r",
    "\x1b",
    "\ufeff",
    "\u2028",
    ',"id":7',
    "null",
  ].map(bytesOf),
  ...[[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf0, 0x9f]].map((bytes) => Uint8Array.from(bytes)),
];

function slice(frame: Uint8Array, random: Random): [from: number, to: number] {
  const from = random.below(frame.length + 1);
  return [from, Math.min(frame.length, from + 1 + random.below(40))];
}

function concat(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
