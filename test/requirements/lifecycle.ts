import { by, type Group, page } from "./requirement.js";

const steps = "server/session/handshake-steps";
const negotiation = "client/session/negotiation";
const stateless = "server/session/stateless-server";
const probe = "client/session/probe";

/** How a conversation opens, goes on and ends; and how requests do without one. */
export const lifecycle: Group = {
  name: "lifecycle",
  prefix: "L",
  link: page("basic/lifecycle", "2025-11-25"),
  requirements: [
    {
      id: "L-1",
      level: "MUST",
      says: "A conversation begins with initialize: the newest version of that era, capabilities, and who asks.",
      proved: [
        ...by("client/session/insist", "of the handshake era asks for %s, and nothing before"),
        ...by(probe, "and offers only the other era gets initialize on the same transport"),
        ...by(steps, "a request before the first is refused, and says what to send"),
      ],
    },
    {
      id: "L-2",
      level: "MUST",
      says: "A server agrees to the version that was asked for, or offers its newest of that era.",
      proved: by(negotiation, "initialize asks for a version, and settles on"),
    },
    {
      id: "L-3",
      level: "SHOULD",
      says: "A client leaves a server whose version it does not speak.",
      proved: by("client/session/insist", "a server that settles on a version which this side does not speak is left:"),
    },
    {
      id: "L-4",
      level: "MUST",
      says: "A client opens the operation with notifications/initialized; a server serves a request that overtakes it.",
      proved: [
        ...by("hardening/peers/c07-before-initialized", "is served, and reported once"),
        ...by(probe, "and offers only the other era gets initialize on the same transport"),
      ],
    },
    {
      id: "L-5",
      level: "SHOULD",
      says: "Before that, a ping is answered and a server tells nothing.",
      proved: [
        ...by(steps, "ping is answered at every step"),
        ...by("server/features/changes", "is not notified before it is open"),
        ...by("client/verbs/listed-tools", "may come before its answer to initialize, if it is a ping"),
      ],
    },
    {
      id: "L-7a",
      level: "MUST",
      says: "A client opens a conversation once; a second initialize opens another on the same channel.",
      proved: by(
        "hardening/peers/c02-second-initialize",
        "opens a new conversation on the same channel, and is reported",
      ),
    },
    {
      id: "L-7b",
      level: "MUST",
      says: "A client does not cancel initialize.",
      proved: by(
        "client/verbs/listed-tools",
        "during initialize: nothing is cancelled at the server, the transport is left",
      ),
    },
    {
      id: "L-8a",
      level: "MUST",
      says: "A server keeps to the version that was agreed on and to what both sides have declared.",
      proved: [
        ...by(
          negotiation,
          "a revision for good: nothing that is said later changes it",
          "and is kept where there is none",
        ),
        ...by("server/features/changes", "is not notified of lists without listChanged"),
        ...by("server/input/handshake", "an undeclared capability is refused by its name, and nothing is asked"),
      ],
    },
    {
      id: "L-8b",
      level: "MUST",
      says: "A client asks a server for nothing that it has not declared.",
      proved: by("client/advertised", "is not sent %s"),
    },
    {
      id: "L-11",
      level: "SHOULD",
      says: "A process is left by closing its input, then told to end, then ended.",
      proved: by(
        "node/child-close",
        "lets a child that heeds the end of its input end by itself",
        "terminates a child that ignores the end of its input",
        "ends a child that ignores that as well",
      ),
    },
    {
      id: "L-12",
      level: "SHOULD",
      says: "Every call has a timeout, told to the server; progress puts it off, but not for ever.",
      proved: [
        ...by(
          "client/verbs/client-calls",
          "after a timeout is sent to the server",
          "keeps a call alive that is slow, but not for ever",
        ),
        ...by("jsonrpc/calls/timeouts", "does not put its total timeout off"),
      ],
    },
    {
      id: "L-20",
      level: "MUST",
      says: "A request of the stateless era says its version and capabilities itself; one that does not is -32602.",
      proved: [
        ...by(stateless, "what _meta lacks is -32602, by name:"),
        ...by("client/verbs/client-calls", "without one says what it speaks as well"),
      ],
    },
    {
      id: "L-21",
      level: "MUST",
      says: "A server concludes nothing from earlier requests or from the connection.",
      proved: [
        ...by(stateless, "nothing is remembered from one request to the next:"),
        ...by("requirements/questions", "capabilities of one request say nothing about the next"),
      ],
    },
    {
      id: "L-22",
      level: "SHOULD",
      says: "Requests that have nothing to do with each other may share a connection.",
      proved: by(stateless, "keep apart: a conversation opens, goes on and is waited for"),
    },
    {
      id: "L-23",
      level: "MUST",
      says: "Lists are the same for every connection, whatever was called before.",
      proved: by("requirements/lists", "every list is the same for every connection, whatever was called before"),
    },
    {
      id: "L-24",
      level: "MUST",
      says: "A version that is not spoken is -32022 and names those that are; a client tries once more at most.",
      proved: [
        ...by(stateless, "a version that is not spoken is -32022, with those that are:"),
        ...by(probe, "and offers it all the same is asked once more", "and repeats itself is asked no third time"),
      ],
    },
    {
      id: "L-25",
      level: "MUST",
      says: "What needs a capability that this request has not declared is -32021 and names it.",
      proved: [
        ...by(
          "server/input/stateless",
          "a question that a client cannot answer is refused by the name of the capability",
        ),
        ...by("requirements/questions", "capabilities of one request say nothing about the next"),
      ],
    },
    {
      id: "L-26",
      level: "SHOULD",
      says: "Every result of the stateless era says who has made it.",
      proved: by(stateless, "is answered without any other before it"),
    },
    {
      id: "L-27",
      level: "MUST",
      says: "Every server answers server/discover.",
      proved: by(stateless, "and sends a discovery, gets versions, capabilities and how long they may be cached"),
    },
    {
      id: "L-28a",
      level: "MUST",
      says: "A server names the kind of every result.",
      proved: [
        ...by("session/traffic", "what our server sends in %s is valid, and is all there"),
        ...by(stateless, "is answered without any other before it"),
      ],
    },
    {
      id: "L-28b",
      level: "MUST",
      says: "A client takes a result without a kind as complete, and refuses a kind that it did not offer.",
      proved: [
        ...by(probe, "one that forgets resultType, name and capabilities is understood"),
        ...by("client/verbs/client-calls", "answered by a result of a kind that was not offered is invalid: %j"),
      ],
    },
    {
      id: "L-29",
      level: "MUST",
      says: "What the stateless era has done away with is an unknown method.",
      proved: by(stateless, "a method that the revision does not have is -32601:"),
    },
    {
      id: "L-30",
      level: "MUST",
      says: "An extension has a prefixed name, and works where both sides have declared it.",
      later: "belongs to the extensions",
    },
    {
      id: "L-50",
      level: "SHOULD",
      says: "Each message chooses its era by what it says, also on one channel.",
      proved: by(stateless, "both eras on one channel"),
    },
    {
      id: "L-51",
      level: "SHOULD",
      says: "A request that names a version is taken by that, even if its method is initialize.",
      proved: by(stateless, "initialize with all that it needs besides: what a request says for itself counts"),
    },
  ],
};
