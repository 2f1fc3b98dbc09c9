import type { Row } from "./server-rows.js";
import { invalidRequest, notFound, parseError } from "./wire.js";

/** Every example of the JSON-RPC 2.0 specification: https://www.jsonrpc.org/specification#examples */
export const specificationExamples: readonly Row[] = [
  {
    name: "params by position",
    sent: '{"jsonrpc": "2.0", "method": "subtract", "params": [42, 23], "id": 1}',
    answers: ['{"jsonrpc":"2.0","id":1,"result":19}'],
  },
  {
    name: "params by position, the other way round",
    sent: '{"jsonrpc": "2.0", "method": "subtract", "params": [23, 42], "id": 2}',
    answers: ['{"jsonrpc":"2.0","id":2,"result":-19}'],
  },
  {
    name: "params by name",
    sent: '{"jsonrpc": "2.0", "method": "subtract", "params": {"subtrahend": 23, "minuend": 42}, "id": 3}',
    answers: ['{"jsonrpc":"2.0","id":3,"result":19}'],
  },
  {
    name: "params by name, in another order",
    sent: '{"jsonrpc": "2.0", "method": "subtract", "params": {"minuend": 42, "subtrahend": 23}, "id": 4}',
    answers: ['{"jsonrpc":"2.0","id":4,"result":19}'],
  },
  {
    name: "a notification",
    sent: '{"jsonrpc": "2.0", "method": "update", "params": [1,2,3,4,5]}',
    answers: [],
    notes: [[1, 2, 3, 4, 5]],
  },
  { name: "a notification of an unknown method", sent: '{"jsonrpc": "2.0", "method": "foobar"}', answers: [] },
  {
    name: "a call of an unknown method",
    sent: '{"jsonrpc": "2.0", "method": "foobar", "id": "1"}',
    answers: [notFound('"1"')],
  },
  {
    name: "a call with invalid JSON",
    sent: '{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]',
    answers: [parseError],
  },
  {
    name: "a call with an invalid request object",
    sent: '{"jsonrpc": "2.0", "method": 1, "params": "bar"}',
    answers: [invalidRequest],
  },
  {
    name: "a batch with invalid JSON",
    sent: '[ {"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"}, {"jsonrpc": "2.0", "method" ]',
    answers: [parseError],
  },
  { name: "a batch that is empty", sent: "[]", answers: [invalidRequest] },
  { name: "a batch that is invalid but not empty", sent: "[1]", answers: [`[${invalidRequest}]`] },
  {
    name: "a batch that is invalid",
    sent: "[1,2,3]",
    answers: [`[${invalidRequest},${invalidRequest},${invalidRequest}]`],
  },
  {
    name: "12: a batch of everything",
    sent:
      '[ {"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"},' +
      ' {"jsonrpc": "2.0", "method": "notify_hello", "params": [7]},' +
      ' {"jsonrpc": "2.0", "method": "subtract", "params": [42,23], "id": "2"},' +
      ' {"foo": "boo"},' +
      ' {"jsonrpc": "2.0", "method": "foo.get", "params": {"name": "myself"}, "id": "5"},' +
      ' {"jsonrpc": "2.0", "method": "get_data", "id": "9"} ]',
    answers: [
      '[{"jsonrpc":"2.0","id":"1","result":7},{"jsonrpc":"2.0","id":"2","result":19},' +
        `${notFound('"5"')},{"jsonrpc":"2.0","id":"9","result":["hello",5]},${invalidRequest}]`,
    ],
    notes: [[7]],
  },
  {
    name: "a batch of notifications",
    sent:
      '[ {"jsonrpc": "2.0", "method": "notify_sum", "params": [1,2,4]},' +
      ' {"jsonrpc": "2.0", "method": "notify_hello", "params": [7]} ]',
    answers: [],
    notes: [[1, 2, 4], [7]],
  },
];
