import { methods, notifications } from "@parlance/mcp";
import { isObject } from "../../json.js";
import { type Finding, failed, passed } from "../finding.js";
import type { Probe } from "../probe.js";
import { describe, expectError, expectResult, quoted, type Subject } from "../subject.js";

const jsonRpc = "https://www.jsonrpc.org/specification";

/** What JSON-RPC demands of whoever answers. */
export const messageProbes: readonly Probe[] = [
  {
    id: "XM-1",
    weight: "must",
    demands: "A request of a method that does not exist is answered with an error that says so",
    page: `${jsonRpc}#error_object`,
    ask: async (subject) =>
      expectError(await subject.ask("parlance/no-such-method"), [subject.revision.codes.methodNotFound]),
  },
  {
    id: "XM-2",
    weight: "must",
    demands: "An answer has the id of its request, as a string where that is one",
    page: "basic#responses",
    ask: (subject) => echoes(subject, "parlance-7"),
  },
  {
    id: "XM-3",
    weight: "must",
    demands: "An answer has the id of its request, also where that is the largest safe integer",
    page: "basic#responses",
    ask: (subject) => echoes(subject, Number.MAX_SAFE_INTEGER),
  },
  {
    id: "XM-4",
    weight: "must",
    demands: "A notification is not answered, not even one that nobody knows",
    page: "basic#notifications",
    async ask(subject) {
      const { status, answer } = await subject.notify("notifications/parlance-no-such-thing");
      if (answer !== undefined) return failed(`it was answered with ${describe(answer)}`);
      if (status !== undefined && status >= 500) return failed(`it was answered with the status ${status}`);
      return subject.stillAnswers();
    },
  },
  {
    id: "XM-5",
    weight: "must",
    demands: "What is not JSON does not end the conversation, and what answers it is a parse error",
    page: `${jsonRpc}#error_object`,
    async ask(subject) {
      const before = subject.unaddressed.length;
      await subject.say('{"jsonrpc":"2.0","id":"broken","method":"ping"');
      const after = await subject.stillAnswers();
      const answer = subject.unaddressed[before];
      if (isObject(answer?.error) && answer.error.code !== subject.revision.codes.parseError)
        return failed(`it was answered with ${describe(answer)}`);
      return after;
    },
  },
  {
    id: "XM-6",
    weight: "must",
    demands: "What is JSON and no message does not end the conversation",
    page: `${jsonRpc}#request_object`,
    async ask(subject) {
      for (const text of ["42", '"text"', "null", "{}", '{"jsonrpc":"2.0","id":1}']) {
        await subject.say(text);
        const after = await subject.stillAnswers();
        if (after.is === "failed") return failed(`after ${text}: ${after.says}`);
      }
      return passed;
    },
  },
  {
    id: "XM-7",
    weight: "should",
    demands: "A message of another version of JSON-RPC is not taken for one",
    page: `${jsonRpc}#request_object`,
    async ask(subject) {
      const id = subject.nextId();
      const text = subject.request(id, ping(subject)).replace('"jsonrpc":"2.0"', '"jsonrpc":"1.0"');
      const { answer } = await subject.say(text, id);
      return answer !== undefined && "result" in answer ? failed(`it was answered with ${describe(answer)}`) : passed;
    },
  },
  {
    id: "XM-8",
    weight: "must",
    demands: "Messages in an array are answered, where the revision has batches",
    page: "basic#batching",
    applies: ({ facts }) => facts.batches,
    async ask(subject) {
      const [one, two] = [subject.nextId(), subject.nextId()];
      const text = `[${subject.request(one, methods.ping)},${subject.request(two, methods.ping)}]`;
      return expectResult(await subject.say(text, two));
    },
  },
  {
    id: "XM-9",
    weight: "must",
    demands: "Of many requests at once each is answered",
    page: "basic#responses",
    async ask(subject) {
      const method = ping(subject);
      const replies = await Promise.all(Array.from({ length: 20 }, () => subject.ask(method)));
      const missing = replies.filter(({ answer }) => answer === undefined).length;
      return missing === 0 ? passed : failed(`${missing} of 20 were not answered`);
    },
  },
  {
    id: "XM-10",
    weight: "must",
    demands: "Cancelling what nobody has asked is ignored",
    page: "basic/utilities/cancellation#error-handling",
    async ask(subject) {
      await subject.notify(notifications.cancelled, { requestId: "parlance-never-asked", reason: "examination" });
      return subject.stillAnswers();
    },
  },
  {
    id: "XM-11",
    weight: "should",
    demands: "Params that are no object are refused",
    page: "basic#requests",
    async ask(subject) {
      const id = subject.nextId();
      const text = JSON.stringify({ jsonrpc: "2.0", id, method: methods.listTools, params: ["a"] });
      const { invalidParams, invalidRequest, methodNotFound } = subject.revision.codes;
      return expectError(await subject.say(text, id), [invalidParams, invalidRequest, methodNotFound]);
    },
  },
];

/** The request that every server of a revision answers. */
function ping({ revision }: Subject): string {
  return revision.era === "stateless" ? methods.discover : methods.ping;
}

async function echoes(subject: Subject, id: string | number): Promise<Finding> {
  const { answer, silence } = await subject.ask(ping(subject), {}, id);
  if (answer === undefined) return failed(`there was no answer with the id ${quoted(id)}: ${silence}`);
  return answer.id === id ? passed : failed(`the answer has the id ${quoted(answer.id)}, not ${quoted(id)}`);
}
