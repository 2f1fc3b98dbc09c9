import { methods } from "@parlance/mcp";
import { type Finding, failed, passed, skipped } from "../finding.js";
import type { HttpWords } from "../line.js";
import type { Probe } from "../probe.js";
import { expectError, type Subject } from "../subject.js";

const page = "basic/transports";
const overHttp: NonNullable<Probe["applies"]> = (_, carrier) => carrier === "http";

/** What a server demands of HTTP, and how it says so. */
export const httpProbes: readonly Probe[] = [
  {
    id: "XH-1",
    weight: "must",
    demands: "A page of a foreign origin is refused",
    page: `${page}#security-warning`,
    applies: overHttp,
    async ask(subject) {
      const status = await statusOf(subject, { headers: { origin: "https://parlance-examination.invalid" } });
      const { httpOriginRefusal: wanted } = subject.revision.facts;
      if (wanted === undefined) return status >= 400 ? passed : failed(`the status is ${status}, expected a refusal`);
      return status === wanted ? passed : failed(`the status is ${status}, expected ${wanted}`);
    },
  },
  {
    id: "XH-2",
    weight: "should",
    demands: "A body that is not declared to be JSON is refused",
    page,
    applies: overHttp,
    ask: (subject) => refuses(subject, { headers: { "content-type": "text/plain" } }),
  },
  {
    id: "XH-3",
    weight: "should",
    demands: "A client that takes no event stream is refused",
    page,
    applies: overHttp,
    ask: (subject) => refuses(subject, { headers: { accept: "text/html" } }),
  },
  {
    id: "XH-4",
    weight: "must",
    demands: "A notification is answered with 202 and nothing else",
    page,
    applies: overHttp,
    async ask(subject) {
      const { status } = await subject.notify("notifications/parlance-no-such-thing");
      return status === 202 ? passed : failed(`the status is ${status}, expected 202`);
    },
  },
  {
    id: "XH-5",
    weight: "must",
    demands: "A request of an unknown session is answered with 404",
    page: `${page}#session-management`,
    applies: ({ facts }, carrier) => carrier === "http" && facts.httpBinding === "session",
    async ask(subject) {
      const status = await statusOf(subject, { headers: { "mcp-session-id": "parlance-no-such-session" } });
      if (status === 404) return passed;
      return status === 200 ? skipped("the server keeps no sessions") : failed(`the status is ${status}, expected 404`);
    },
  },
  {
    id: "XH-6",
    weight: "must",
    demands: "A version in the header that is none is refused with 400",
    page: `${page}#protocol-version-header`,
    applies: ({ facts }, carrier) => carrier === "http" && facts.httpVersionHeader === "after initialize",
    async ask(subject) {
      const status = await statusOf(subject, { headers: { "mcp-protocol-version": "yesterday" } });
      return status === 400 ? passed : failed(`the status is ${status}, expected 400`);
    },
  },
  {
    id: "XH-7",
    weight: "must",
    demands: "A request whose headers say something else than its body is refused",
    page: "basic/transports/streamable-http#server-validation",
    applies: ({ facts }, carrier) => carrier === "http" && facts.httpBinding === "stateless",
    async ask(subject) {
      const id = subject.nextId();
      const reply = await subject.ask(methods.discover, {}, id, { headers: { "mcp-method": methods.listTools } });
      const { headerMismatch = 0 } = subject.revision.codes;
      const found = expectError(reply, [headerMismatch]);
      if (found.is !== "passed") return found;
      return reply.status === 400 ? passed : failed(`the status is ${reply.status}, expected 400`);
    },
  },
  {
    id: "XH-8",
    weight: "must",
    demands: "A GET is answered with an event stream, or with 405",
    page,
    applies: ({ facts }, carrier) => carrier === "http" && facts.httpBinding === "session",
    async ask(subject) {
      const { status = 0 } = await subject.say("", undefined, { method: "GET" });
      return status === 200 || status === 405 ? passed : failed(`the status is ${status}, expected 200 or 405`);
    },
  },
];

async function refuses(subject: Subject, words: HttpWords): Promise<Finding> {
  const status = await statusOf(subject, words);
  return status >= 400 && status < 500 ? passed : failed(`the status is ${status}, expected a refusal`);
}

/** The status of a request that is sound but for what its headers are made to say; 0 where there is none. */
async function statusOf(subject: Subject, words: HttpWords): Promise<number> {
  const method = subject.revision.era === "stateless" ? methods.discover : methods.ping;
  const { status = 0 } = await subject.ask(method, {}, subject.nextId(), words);
  return status;
}
