import { by, type Group, page } from "./requirement.js";

const asking = "server/input/stateless";
const questions = "requirements/questions";
const calls = "client/verbs/client-calls";

/** Progress of a call. */
export const progress: Group = {
  name: "progress",
  prefix: "PN",
  link: page("basic/utilities/progress"),
  requirements: [
    {
      id: "PN-1",
      level: "MUST",
      says: "Progress is told to who gives a token, and each call has a token of its own.",
      proved: [
        ...by("server/context", "is not sent if the client did not request it: %j"),
        ...by(calls, "of two calls goes to its own call; without a call, or after the result, it is dropped"),
      ],
    },
    {
      id: "PN-2",
      level: "MUST",
      says: "Progress only grows.",
      proved: by("server/context", "only ever grows, and is a number"),
    },
    {
      id: "PN-3",
      level: "MUST",
      says: "Progress is told of calls that run, and ends with them.",
      proved: by("server/context", "ends with the result, and with a cancel"),
    },
    {
      id: "PN-4",
      level: "SHOULD",
      says: "Progress of an unknown token is ignored.",
      proved: by("client/session/negotiation", "progress of nothing"),
    },
  ],
};

/** Cancellation. */
export const cancellation: Group = {
  name: "cancellation",
  prefix: "CN",
  link: page("basic/utilities/cancellation"),
  requirements: [
    {
      id: "CN-1",
      level: "MUST",
      says: "A side cancels its own calls while they run, and never initialize.",
      proved: [
        ...by("jsonrpc/calls/cancellation", "a call that has its answer: too late, nothing is written"),
        ...by(
          "client/verbs/listed-tools",
          "during initialize: nothing is cancelled at the server, the transport is left",
        ),
      ],
    },
    {
      id: "CN-2",
      level: "SHOULD",
      says: "What is cancelled stops and is not answered; a late answer and an unknown id are ignored.",
      proved: [
        ...by("session/messages", "stops a call: nothing more is said of it, and its id is free"),
        ...by(calls, "by its caller is told to the server, whose late answer is ignored: %s"),
        ...by("client/session/negotiation", "a cancel with an invalid id"),
      ],
    },
    {
      id: "CN-3",
      level: "MUST",
      says: "A cancellation and an answer may cross, on either side.",
      proved: [
        ...by("jsonrpc/calls/cancellation", "before its request arrives: that runs as if nothing had been"),
        ...by("jsonrpc/closing", "every call has one outcome, however the answers, the cancels and the end interleave"),
        ...by("properties/interleavings", "interleave, each has its one outcome"),
        ...by("simulation/conversations", "every call has one outcome and nothing is left: seed %i"),
      ],
    },
    {
      id: "CN-4",
      level: "MUST",
      says: "Over stdio a client of the stateless era says that it cancels.",
      proved: by(calls, "by its caller is told to the server, whose late answer is ignored: %s"),
    },
    {
      id: "CN-5",
      level: "MUST",
      says: "A server of the stateless era cancels a subscription and nothing else.",
      proved: [
        ...by("server/features/listen", "a subscription that the server ends: a cancelled notification, and a result"),
        ...by("protocol/revisions/revisions", "a server without requests of its own asks inside a result"),
      ],
    },
    {
      id: "CN-6",
      level: "MUST",
      says: "A task is not cancelled as a call is.",
      proved: [
        ...by("server/features/tasks/lifecycle", "is not by a notification, which is for calls that were not answered"),
        ...by("client/verbs/tasks", "is stopped when its caller no longer waits"),
      ],
    },
  ],
};

/** Results that a client may keep. */
export const caching: Group = {
  name: "caching",
  prefix: "CA",
  link: page("server/utilities/caching"),
  requirements: [
    {
      id: "CA-1",
      level: "MUST",
      says: "Lists, discovery and contents have a lifetime and a scope for caches; input requests do not.",
      proved: [
        ...by("server/session/stateless-server", "and lists tools, gets how long the list may be cached"),
        ...by(
          "server/features/resources",
          "is said by a definition, by what it reads, and for all lists by the server",
        ),
        ...by(questions, "a question says nothing of how long it may be kept"),
      ],
    },
    {
      id: "CA-2",
      level: "MUST",
      says: "A client keeps a result for its own request alone.",
      proved: by(
        "client/cache",
        "belongs to its params",
        "is one of those that may be kept: a tool is called each time",
      ),
    },
    {
      id: "CA-4",
      level: "MUST",
      says: "What is private never reaches another principal.",
      proved: by("client/cache", "is not given to another: %s"),
    },
    {
      id: "CA-5",
      level: "MUST",
      says: "All pages of a list are for the same readers.",
      proved: by("requirements/lists", "every page of a list is for the same readers"),
    },
    {
      id: "CA-6",
      level: "MUST",
      says: "A change that is told empties what was kept.",
      proved: by("client/cache", "by %s %j: %s", "when the change comes while it is asked for"),
    },
  ],
};

/** Calls in several rounds. */
export const rounds: Group = {
  name: "rounds",
  prefix: "MR",
  link: page("basic/patterns/mrtr"),
  requirements: [
    {
      id: "MR-1",
      level: "MUST",
      says: "Calling a tool, getting a prompt and reading a resource may end in questions, and nothing else.",
      proved: by(questions, "%s may ask: %s"),
    },
    {
      id: "MR-2",
      level: "MUST",
      says: "A round has questions, each with its own key, or a state.",
      proved: by(asking, "several questions at once are one round, and keep their keys"),
    },
    {
      id: "MR-3",
      level: "MUST",
      says: "Only what this request has declared is asked: a form, a page, a model, its tools, roots.",
      proved: [
        ...by(asking, "a question that a client cannot answer is refused by the name of the capability"),
        ...by(questions, "tools are given to a model only where the client can", "a form is no page: %j"),
      ],
    },
    {
      id: "MR-4",
      level: "MUST",
      says: "A client answers all questions and makes the same call again.",
      proved: by("client/input/rounds", "is answered, and the call made again, until it is complete"),
    },
    {
      id: "MR-5",
      level: "MUST",
      says: "A client gives the state back as it came, and to its call alone.",
      proved: by(
        "client/input/rounds",
        "leaves its answers and its state with no other call",
        "may give no state, and then none goes back",
      ),
    },
    {
      id: "MR-7",
      level: "SHOULD",
      says: "Answers are checked; unknown ones are ignored, missing ones asked for again.",
      proved: by(
        asking,
        "a missing input response is requested again, and one that was not requested is ignored",
        "an answer that does not fit its question is an error that names the place",
      ),
    },
    {
      id: "MR-8",
      level: "MUST",
      says: "A state is sealed: altered, expired, used before, or of another caller or call, it is refused.",
      proved: [
        ...by("hardening/attacks/a11-one-use-per-round", "is used once, so that work of one round is done once"),
        ...by(asking, "not when it was altered, wherever", "not for another tool, nor for other arguments"),
        ...by(questions, "a state is refused when its time is over", "a state opens for its own principal only"),
      ],
    },
    {
      id: "MR-9",
      level: "SHOULD",
      says: "Each round may reach another process that knows the secret.",
      proved: by(asking, "but on another server object with the same secret"),
    },
  ],
};

/** Listening for changes. */
export const subscriptions: Group = {
  name: "subscriptions",
  prefix: "SB",
  link: page("basic/utilities/subscriptions"),
  requirements: [
    {
      id: "SB-1",
      level: "MUST",
      says: "Nothing is told that was not asked for.",
      proved: by("server/features/listen", "notifies only of requested changes"),
    },
    {
      id: "SB-2",
      level: "MUST",
      says: "First comes what the server will tell, without what it cannot.",
      proved: by(
        "server/features/listen",
        "a subscription on the wire: acknowledged, told",
        "is honoured as far as the server can",
      ),
    },
    {
      id: "SB-3",
      level: "MUST",
      says: "All that is told carries the id of the request, in its type.",
      proved: by("server/features/listen", "is named by the id %j of its request, in its own type"),
    },
    {
      id: "SB-4",
      level: "SHOULD",
      says: "Several subscriptions get a copy each.",
      proved: by("server/features/listen", "may be one of several: each gets its own copy"),
    },
    {
      id: "SB-5a",
      level: "SHOULD",
      says: "A subscription that the server ends has a result.",
      proved: by(
        "server/features/listen",
        "a subscription that the server ends: a cancelled notification, and a result",
      ),
    },
    {
      id: "SB-5b",
      level: "MUST",
      says: "A client whose process was started again subscribes again.",
      proved: by("client/session/reopen", "a subscription is opened again by itself"),
    },
    {
      id: "SB-7",
      level: "SHOULD",
      says: "An empty subscription is open, unless there is nothing to hear of at all.",
      proved: by("server/features/listen", "stays open without changes", "does not exist on a server without changes"),
    },
  ],
};
