import { isObject, methods, notifications, type Revision } from "@parlance/mcp/protocol";
import { byEra, isErrorWithoutId, onMessages, type RawReply } from "@parlance/wire";
import {
  asNote,
  describe,
  expectError,
  expectRefusal,
  expectResult,
  failed,
  noCode,
  type Probe,
  type ProbeOutcome,
  passed,
  quoted,
  type Subject,
} from "../probe.js";
import { callsAtOnce } from "./features.js";

const jsonRpc = "https://www.jsonrpc.org/specification";

/** The sentence behind the probes of servers that stop answering. */
const everyCallIsAnswered = {
  sentence: "When a rpc call is made, the Server MUST reply with a Response, except for in the case of Notifications.",
  page: `${jsonRpc}#response_object`,
};

const sameId = ({ facts }: Revision): string =>
  facts.errorId === "required"
    ? "Responses MUST include the same ID as the request they correspond to."
    : "Result responses MUST include the same ID as the request they correspond to.";

/** A probe of the id of a response. @param also the property of the id */
function idProbe(id: string, also: string, ask: Probe["ask"]): Probe {
  const demands = `A response has the id of its request, also if ${also}`;
  return { id, level: "must", demands, sentence: sameId, page: onMessages("responses"), ask };
}

/** Clients on the official SDK begin with this id, and `if (message.id)` takes their `initialize` for a notification. */
export const zeroProbe: Probe = idProbe("XM-12", "that is 0", (subject) => echoes(subject, 0));

/** The probes of JSON-RPC. */
export const messageProbes: readonly Probe[] = [
  {
    id: "XM-1",
    level: "must",
    demands: "A request with an unknown method gets the error method not found",
    sentence:
      "When a rpc call encounters an error, the Response Object MUST contain the error member with a value that is a Object with the following members:",
    page: `${jsonRpc}#error_object`,
    ask: async (subject) =>
      expectRefusal(await subject.ask("parlance/no-such-method"), [subject.revision.codes.methodNotFound]),
  },
  idProbe("XM-2", "that is a string", (subject) => echoes(subject, "parlance-7")),
  idProbe("XM-3", "that is the largest safe integer", (subject) => echoes(subject, Number.MAX_SAFE_INTEGER)),
  {
    id: "XM-4",
    level: "must",
    demands: "A notification is not answered, not even one with an unknown method",
    sentence: ({ facts }) =>
      facts.httpBinding === "http+sse"
        ? "The Server MUST NOT reply to a Notification, including those that are within a batch request."
        : "The receiver MUST NOT send a response.",
    page: (revision) =>
      revision.facts.httpBinding === "http+sse" ? `${jsonRpc}#notification` : onMessages("notifications")(revision),
    async ask(subject) {
      const before = subject.client.responsesWithoutId.length;
      const { http: { status = 0 } = {}, answer } = await subject.notify("notifications/parlance-no-such-thing");
      // Over HTTP a server may refuse it, and say why in an error without an id.
      const isRefused = status >= 400 && answer !== undefined && isErrorWithoutId(answer);
      if (answer !== undefined && !isRefused) return failed(`it was answered with ${describe(answer)}`);
      const after = await subject.stillAnswers();
      const late = subject.client.transport === "channel" ? subject.client.responsesWithoutId[before] : undefined;
      return late === undefined ? after : failed(`it was answered with ${describe(late)}`);
    },
  },
  {
    id: "XM-5",
    level: "must",
    demands: "Invalid JSON gets a parse error, or no response, and does not end the connection",
    ...everyCallIsAnswered,
    async ask(subject) {
      const before = subject.client.responsesWithoutId.length;
      await subject.client.send('{"jsonrpc":"2.0","id":"broken","method":"ping"');
      const after = await subject.stillAnswers();
      const answer = subject.client.responsesWithoutId[before];
      if (after.is === "passed" && isObject(answer?.error) && answer.error.code !== subject.revision.codes.parseError)
        return asNote(failed(`it was answered with ${describe(answer)}`), noCode);
      return after;
    },
  },
  {
    id: "XM-6",
    level: "must",
    demands: "JSON that is not a message does not end the connection",
    ...everyCallIsAnswered,
    async ask(subject) {
      for (const text of ["42", '"text"', "null", "{}", '{"jsonrpc":"2.0","id":1}']) {
        await subject.client.send(text);
        const after = await subject.stillAnswers();
        if (after.is === "failed") return failed(`after ${text}: ${after.says}`);
      }
      return passed;
    },
  },
  {
    id: "XM-7",
    level: "must",
    demands: "A message with another jsonrpc version is not accepted",
    sentence: 'A String specifying the version of the JSON-RPC protocol. MUST be exactly "2.0".',
    doubt: "the sentence binds the sender",
    page: `${jsonRpc}#request_object`,
    async ask(subject) {
      const id = subject.nextId();
      const text = subject.request(id, subject.ping).replace('"jsonrpc":"2.0"', '"jsonrpc":"1.0"');
      const { answer } = await subject.client.send(text, id);
      return answer !== undefined && "result" in answer ? failed(`it was answered with ${describe(answer)}`) : passed;
    },
  },
  {
    id: "XM-8",
    level: "must",
    demands: "A batch gets responses, in revisions that have batches",
    sentence: "MUST support receiving JSON-RPC batches.",
    page: "basic#batching",
    applies: ({ facts }) => facts.batches,
    async ask(subject) {
      const [one, two] = [subject.nextId(), subject.nextId()];
      const text = `[${subject.request(one, methods.ping)},${subject.request(two, methods.ping)}]`;
      return expectResult(await subject.client.send(text, two));
    },
  },
  {
    id: "XM-9",
    level: "must",
    demands: "Each of many concurrent requests gets a response",
    ...everyCallIsAnswered,
    async ask(subject) {
      const ownCalls = await callsAtOnce(subject);
      const pings = Array.from({ length: 20 }, () => subject.askAnything());
      // Handlers of tools overlap as nothing else does. They may be slow: R-5 finds what has a wrong id, whether or not all respond.
      const calls = [...ownCalls, ...ownCalls].map((call) => subject.call(call));
      const replies = await Promise.all(pings);
      const ends = await Promise.all(calls);
      const missing = replies.filter(({ answer }) => answer === undefined).length;
      if (missing > 0) return failed(`${missing} of 20 got no response with their id`);
      const named = subject.wanted.map(({ tool }) => tool);
      const lost = named.filter((_, at) =>
        [ends[at], ends[at + ownCalls.length]].some((end) => end?.answer === undefined),
      );
      if (lost.length === 0) return passed;
      const says = `of two calls of ${[...new Set(lost)].map(quoted).join(", ")} at the same time, not both got a response`;
      return asNote(failed(says), "a tool may need longer than --timeout");
    },
  },
  {
    id: "XM-10",
    level: "should",
    demands: "Cancelling an unknown request is ignored",
    sentence: "Invalid cancellation notifications SHOULD be ignored: Unknown request IDs",
    page: byEra("basic/utilities/cancellation#error-handling", "basic/patterns/cancellation#error-handling"),
    async ask(subject) {
      const before = subject.client.responsesWithoutId.length;
      const params = { requestId: "parlance-never-asked", reason: "examination" };
      const named = subject.client.send(subject.notification(notifications.cancelled, params), params.requestId);
      const after = await subject.stillAnswers();
      const answer = (await soFar(named))?.answer ?? subject.client.responsesWithoutId[before];
      const isRefused = subject.client.transport === "http" && answer !== undefined && isErrorWithoutId(answer);
      return answer === undefined || isRefused ? after : failed(`it was answered with ${describe(answer)}`);
    },
  },
  {
    id: "XM-11",
    level: "may",
    demands: "Params that are not an object are refused",
    page: onMessages("requests"),
    async ask(subject) {
      const id = subject.nextId();
      const text = JSON.stringify({ jsonrpc: "2.0", id, method: methods.listTools, params: ["a"] });
      const { invalidParams, invalidRequest, methodNotFound } = subject.revision.codes;
      return expectError(await subject.client.send(text, id), [invalidParams, invalidRequest, methodNotFound]);
    },
  },
  zeroProbe,
  {
    ...idProbe("XM-13", "a character of it comes in two pieces", async (subject) => {
      const id = "parlance-\u{1F642}";
      const line = new TextEncoder().encode(`${subject.request(id, subject.ping)}\n`);
      const cut = line.indexOf(firstByteOfFour) + 2;
      const reply = await subject.client.send([line.subarray(0, cut), line.subarray(cut)], id);
      return echoed(reply, id);
    }),
    applies: (_revision, transport) => transport === "channel",
  },
];

/** How a character of four bytes begins in UTF-8. */
const firstByteOfFour = 0xf0;

/** The reply to something that should have none, if it has come by now. */
function soFar(reply: Promise<RawReply>): Promise<RawReply | undefined> {
  return Promise.race([reply, Promise.resolve(undefined)]);
}

async function echoes(subject: Subject, id: string | number): Promise<ProbeOutcome> {
  const before = subject.client.responsesWithoutId.length;
  const reply = await subject.ask(subject.ping, {}, id);
  const withoutId = subject.client.responsesWithoutId[before];
  if (reply.answer === undefined && withoutId !== undefined)
    return failed(`the answer ${withoutId.id === undefined ? "has no id" : "has the id null"}, not ${quoted(id)}`);
  return echoed(reply, id);
}

function echoed({ answer, silence }: RawReply, id: string | number): ProbeOutcome {
  if (answer === undefined) return failed(`there was no answer with the id ${quoted(id)}: ${silence}`);
  return answer.id === id ? passed : failed(`the answer has the id ${quoted(answer.id)}, not ${quoted(id)}`);
}
