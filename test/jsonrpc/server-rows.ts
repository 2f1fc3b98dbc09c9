import type { Transport } from "./transports.js";
import { internal, invalid, invalidRequest, notFound, parseError } from "./wire.js";

/** The frames that a peer writes, and those that it must read. */
export interface Row {
  readonly name: string;
  /** One frame, or several at once. */
  readonly sent: string | readonly string[];
  readonly answers: readonly string[];
  /** The params of the notifications that were run. */
  readonly notes?: readonly unknown[];
  /** Only where the transport can bring it. */
  readonly on?: readonly Transport["name"][];
}

const deep = "[".repeat(100_000) + "]".repeat(100_000);
const pong = '{"jsonrpc":"2.0","id":1,"result":"pong"}';

/** A request `id` for `ping`. */
function ping(id: string): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"ping"}`;
}

/** A request with id 1. */
function one(rest: string): string {
  return `{"jsonrpc":"2.0","id":1,${rest}}`;
}

/** The small inputs on which libraries fail, with the answers that the specification requires. */
export const smallInputs: readonly Row[] = [
  { name: "1: JSON that is cut", sent: '{"jsonrpc":"2.0","method":"echo"', answers: [parseError] },
  { name: "2: an empty frame", sent: "", answers: [parseError], on: ["memory", "Content-Length"] },
  { name: "2: an empty line is no frame, and is ignored", sent: "", answers: [], on: ["lines"] },
  { name: "3: []", sent: "[]", answers: [invalidRequest] },
  { name: "4: [1]", sent: "[1]", answers: [`[${invalidRequest}]`] },
  { name: "5: [1,2,3]", sent: "[1,2,3]", answers: [`[${invalidRequest},${invalidRequest},${invalidRequest}]`] },
  { name: "6: [null]", sent: "[null]", answers: [`[${invalidRequest}]`] },
  { name: "7: [[]]", sent: "[[]]", answers: [`[${invalidRequest}]`] },
  { name: "8: [[request],request]", sent: `[[${ping("2")}],${ping("1")}]`, answers: [`[${pong},${invalidRequest}]`] },
  { name: "9: [request]", sent: `[${ping("1")}]`, answers: [`[${pong}]`] },
  {
    name: "10: [request,notification]",
    sent: `[${ping("1")},{"jsonrpc":"2.0","method":"update","params":[7]}]`,
    answers: [`[${pong}]`],
    notes: [[7]],
  },
  {
    name: "11: [notification,notification]",
    sent: '[{"jsonrpc":"2.0","method":"update","params":[1]},{"jsonrpc":"2.0","method":"update","params":[2]}]',
    answers: [],
    notes: [[1], [2]],
  },
  { name: "13: 1", sent: "1", answers: [invalidRequest] },
  { name: '13: "x"', sent: '"x"', answers: [invalidRequest] },
  { name: "13: a request inside a string", sent: JSON.stringify(ping("1")), answers: [invalidRequest] },
  { name: "14: null", sent: "null", answers: [invalidRequest] },
  { name: "14: false", sent: "false", answers: [invalidRequest] },
  { name: "15: {}", sent: "{}", answers: [invalidRequest] },
  { name: "16: no jsonrpc", sent: '{"id":1,"method":"ping"}', answers: [invalid("1")] },
  { name: '16: jsonrpc "1.0"', sent: '{"jsonrpc":"1.0","id":1,"method":"ping"}', answers: [invalid("1")] },
  { name: "16: jsonrpc 2.0, a number", sent: '{"jsonrpc":2.0,"id":1,"method":"ping"}', answers: [invalid("1")] },
  { name: "17: method 1, no id", sent: '{"jsonrpc":"2.0","method":1,"params":"bar"}', answers: [invalidRequest] },
  { name: "18: method 1, id 1", sent: one('"method":1'), answers: [invalid("1")] },
  { name: '19: params "bar"', sent: one('"method":"echo","params":"bar"'), answers: [invalid("1")] },
  { name: "20: params null", sent: one('"method":"echo","params":null'), answers: [invalid("1")] },
  {
    name: "21: a notification with params 5 is answered and not run",
    sent: '{"jsonrpc":"2.0","method":"update","params":5}',
    answers: [invalidRequest],
  },
  {
    name: "22: params by name",
    sent: one('"method":"subtract","params":{"subtrahend":23,"minuend":42}'),
    answers: ['{"jsonrpc":"2.0","id":1,"result":19}'],
  },
  { name: "23: id null", sent: ping("null"), answers: ['{"jsonrpc":"2.0","id":null,"result":"pong"}'] },
  { name: "24: id 1.5", sent: ping("1.5"), answers: ['{"jsonrpc":"2.0","id":1.5,"result":"pong"}'] },
  {
    name: "25: id 9007199254740993",
    sent: ping("9007199254740993"),
    answers: ['{"jsonrpc":"2.0","id":9007199254740993,"result":"pong"}'],
  },
  { name: "26: id 1e400", sent: ping("1e400"), answers: ['{"jsonrpc":"2.0","id":1e400,"result":"pong"}'] },
  { name: "27: id true", sent: ping("true"), answers: [invalidRequest] },
  { name: "27: id {}", sent: ping("{}"), answers: [invalidRequest] },
  { name: "27: id [1]", sent: ping("[1]"), answers: [invalidRequest] },
  { name: "28: an unknown notification", sent: '{"jsonrpc":"2.0","method":"foobar"}', answers: [] },
  { name: "28: a notification that throws", sent: '{"jsonrpc":"2.0","method":"boom"}', answers: [] },
  { name: "28: a notification that rejects", sent: '{"jsonrpc":"2.0","method":"reject"}', answers: [] },
  { name: "29: rpc.discover", sent: one('"method":"rpc.discover"'), answers: [notFound("1")] },
  { name: "29: rpc.discover as a notification", sent: '{"jsonrpc":"2.0","method":"rpc.discover"}', answers: [] },
  { name: "30: method __proto__", sent: one('"method":"__proto__"'), answers: [notFound("1")] },
  { name: "31: method constructor", sent: one('"method":"constructor"'), answers: [notFound("1")] },
  { name: "31: method toString", sent: one('"method":"toString"'), answers: [notFound("1")] },
  { name: "31: method valueOf", sent: one('"method":"valueOf"'), answers: [notFound("1")] },
  {
    name: "32: a param __proto__ is a member like any other",
    sent: one('"method":"echo","params":{"__proto__":{"polluted":1}}'),
    answers: ['{"jsonrpc":"2.0","id":1,"result":{"__proto__":{"polluted":1}}}'],
  },
  { name: "33: method and result in one object", sent: one('"method":"ping","result":1'), answers: [invalid("1")] },
  { name: "33: method and error in one object", sent: one('"method":"ping","error":{}'), answers: [invalid("1")] },
  { name: "34: of a duplicate method the last", sent: one('"method":"boom","method":"ping"'), answers: [pong] },
  { name: "35: a handler that throws a secret", sent: one('"method":"reject"'), answers: [internal("1")] },
  { name: "36: a handler that throws at once", sent: one('"method":"boom"'), answers: [internal("1")] },
  { name: "37: an error code that is no integer", sent: one('"method":"fraction"'), answers: [internal("1")] },
  {
    name: "38: a handler that returns undefined",
    sent: one('"method":"nothing"'),
    answers: ['{"jsonrpc":"2.0","id":1,"result":null}'],
  },
  { name: "39: a handler that returns a BigInt", sent: one('"method":"bigint"'), answers: [internal("1")] },
  { name: "40: a handler that returns a cycle", sent: one('"method":"cycle"'), answers: [internal("1")] },
  { name: "41: params nested 100,000 deep", sent: one(`"method":"echo","params":${deep}`), answers: [invalid("1")] },
  {
    name: "41: params nested 100,000 deep before the id",
    sent: `{"jsonrpc":"2.0","method":"echo","params":${deep},"id":1}`,
    answers: [invalid("1")],
  },
  { name: "42: an array nested 100,000 deep", sent: deep, answers: [invalidRequest] },
  { name: "43: id 1 twice at once", sent: [ping("1"), ping("1")], answers: [pong, pong] },
  {
    name: '44: ids 1 and "1" at once',
    sent: [ping("1"), ping('"1"')],
    answers: [pong, '{"jsonrpc":"2.0","id":"1","result":"pong"}'],
  },
];
