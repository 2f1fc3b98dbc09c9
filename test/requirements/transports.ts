import { by, type Group, type Proof, page, type Requirement } from "./requirement.js";

function http(id: string, says: string, ...proved: readonly (readonly Proof[])[]): Requirement {
  return { id, level: "MUST", says, proved: proved.flat() };
}

/** A request over HTTP that may not be made is a row of a table, on each platform. */
const turnedAway = by("http/server/refusals", "a server turns away");

/** Transports of messages. */
export const transports: Group = {
  name: "transports",
  prefix: "T",
  link: page("basic/transports"),
  requirements: [
    {
      id: "T-1",
      level: "MUST",
      says: "Over stdio each message is one line of UTF-8.",
      proved: [
        ...by("properties/codec", "is one line, and decodes to the same message"),
        ...by(
          "transport/framing",
          "what is encoded arrives, in any chunks",
          "any bytes in any chunks give what they give in one",
        ),
      ],
    },
    {
      id: "T-2",
      level: "MUST",
      says: "The library writes messages to stdout and nothing else; words for people go to stderr.",
      proved: by("session/stdio", "that fails sends only an internal error to its client, and the details to stderr"),
    },
    {
      id: "T-3",
      level: "SHOULD",
      says: "In the handshake era both sides may ask.",
      proved: by("server/input/handshake", "the same handler asks with requests, and its effect happens once"),
    },
    {
      id: "T-4a",
      level: "MUST",
      says: "A server of the stateless era writes no requests.",
      proved: [
        ...by("server/input/stateless", "a handler with two questions runs in three rounds"),
        ...by("protocol/revisions/revisions", "a server without requests of its own asks inside a result"),
      ],
    },
    {
      id: "T-4b",
      level: "MUST",
      says: "A client of the stateless era writes no responses.",
      proved: by("client/input/input-handlers", "in the stateless era is reported and not answered"),
    },
    {
      id: "T-5",
      level: "MUST",
      says: "Behind a cancellation a server of the stateless era says nothing more of the request.",
      proved: by("session/messages", "stops a call of the stateless era in the same way"),
    },
    {
      id: "T-6",
      level: "SHOULD",
      says: "A server exits at the end of its input, and a client ends one that does not.",
      proved: [
        ...by("session/stdio", "at the end of its input a server process"),
        ...by("node/child-close", "terminates a child that ignores the end of its input"),
      ],
    },
    {
      id: "T-7",
      level: "SHOULD",
      says: "A client starts a process again that has ended, and subscribes again.",
      proved: by("client/session/reopen", "a process that dies is started again, and hears of what changes: %s"),
    },
    {
      id: "T-8",
      level: "SHOULD",
      says: "A frame has a bound, and a peer that keeps breaking it is left.",
      proved: by(
        "jsonrpc/codec/oversized",
        "a frame over the limit, over $name",
        "closes the connection after the response if it is the third",
      ),
    },
    {
      id: "T-9",
      level: "MUST",
      says: "A transport of another kind keeps the messages and the lifecycle.",
      proved: by("client/verbs/listed-tools", "a server in the same process is spoken to in the newest revision"),
    },
    http(
      "T-20",
      "HTTP+SSE has two endpoints; its first event names the one to post to.",
      by("http/server/modes", "names the address to post to in its first event"),
      by("http/client/era", "is found after two refusals, and opened again when its stream breaks"),
    ),
    http(
      "T-21",
      "Over HTTP+SSE a client posts, and a server answers by events.",
      by("http/server/modes", "answers what is posted there by events"),
      by("http/client/era", "is found after two refusals, and opened again when its stream breaks"),
    ),
    http(
      "T-23",
      "Over HTTP+SSE a server checks the origin of a request.",
      by("http/server/modes", "lets in no foreign page, host or body, and no other caller's session"),
    ),
    http(
      "T-30",
      "One path takes POST and GET.",
      by("http/server/streams/streams", "on the stream of the request that it belongs to"),
    ),
    http(
      "T-31",
      "A server checks the origin of every request.",
      turnedAway,
      by("http/server/pages", "a foreign page learns nothing, whatever it asks"),
    ),
    http(
      "T-32",
      "A client posts each message by itself, as JSON, and accepts JSON and events.",
      by("http/client/session", "is opened after a refused discovery, named by every request, and ended"),
    ),
    http(
      "T-34",
      "A post without requests is accepted with 202 and no body.",
      by("http/server/sessions/sessions", "a conversation of %s is a session, whose id comes with the answer"),
      by("http/server/batches", "without requests is accepted"),
    ),
    http(
      "T-35",
      "A request is answered by JSON or by events; a client takes both.",
      by(
        "http/server/streams/streams",
        "an answer that takes long becomes one",
        "on the stream of the request that it belongs to",
      ),
      by("http/client/session", "asks and is asked on the stream of a call, and on that of the session"),
    ),
    http(
      "T-39",
      "A message goes to one stream, and an unrelated stream carries no response.",
      by("http/server/streams/streams", "on the stream of the request that it belongs to, and on no other"),
      by("http/server/streams/resuming", "replaces the one that it was: that one ends, and nothing goes to both"),
    ),
    http(
      "T-40",
      "A client names the version that was agreed on in a header.",
      by("http/client/session", "in %s names the version only where the revision does"),
    ),
    http("T-42", "A version in the header that is not spoken is refused with 400.", turnedAway),
    http(
      "T-43",
      "A session id is made of visible ASCII.",
      by("http/server/sessions/sessions", "ids of sessions are legal, and do not follow from others"),
    ),
    http(
      "T-44",
      "A client repeats its session id; an unknown one is answered with 404, and it starts anew.",
      by(
        "http/server/sessions/sessions",
        "a session that its client has ended is unknown, and so it is when it is ended again",
      ),
      by("http/client/session", "is begun anew, and the call that was refused is made again; what was running fails"),
    ),
    http(
      "T-46",
      "A session is no proof of who asks.",
      by("http/server/sessions/sessions", "a session of somebody else is, byte for byte, one that never was"),
    ),
    http(
      "T-47",
      "An event id names one event of a session.",
      by(
        "http/server/streams/streams",
        "ids of events are never the same twice in a session, whichever stream they are on",
      ),
    ),
    http(
      "T-48",
      "A stream that is resumed replays nothing of another stream.",
      by("http/server/streams/resuming", "receives nothing of another stream, and nothing of another session"),
    ),
    http(
      "T-60",
      "In the stateless era one path takes POST alone.",
      by("http/server/modes", "takes POST, and nothing else"),
    ),
    http("T-61", "In the stateless era a server checks the origin too.", turnedAway),
    http(
      "T-62",
      "In the stateless era a client posts one request or one notification.",
      by("http/client/stateless", "is one POST that says in headers what its body says"),
      turnedAway,
    ),
    http(
      "T-63",
      "In the stateless era a notification is accepted with 202.",
      by("http/server/stateless", "a notification is accepted with 202 and no body"),
    ),
    http(
      "T-64",
      "In the stateless era a request is answered by JSON or by events.",
      by("http/server/stateless", "a request is answered with JSON, or with events if notifications come first"),
      by("http/client/stateless", "is answered by an event stream with whatever else an event stream may hold"),
    ),
    http(
      "T-65",
      "Headers repeat version, method and name of a request; what differs is refused.",
      by("http/client/stateless", "is one POST that says in headers what its body says"),
      turnedAway,
    ),
    http(
      "T-66",
      "Names of headers ignore case, their values do not.",
      by("http/server/bytes", "names of headers ignore case, and spaces around values are not theirs"),
      turnedAway,
    ),
    http(
      "T-67",
      "A value that a header cannot hold is written in base64.",
      by("protocol/header-values", "gives back every text, and a header can hold it"),
      by("http/server/stateless", "headers and body agree: %s"),
      turnedAway,
    ),
    http(
      "T-68",
      "Events of a request belong to it, and none of them is a request.",
      by("http/server/stateless", "a request is answered with JSON, or with events if notifications come first"),
      by("http/server/sessions/isolation", "each gets its own responses and notifications"),
    ),
    http(
      "T-69",
      "Closing the response is the cancellation.",
      by(
        "http/server/sessions/leaving",
        "cancels its call in the stateless era, with or without earlier notifications",
      ),
      by("http/client/stateless", "that is cancelled gives up its request, in JSON and in a stream"),
    ),
    http(
      "T-70",
      "A broken stream loses its request; nothing is replayed.",
      by("http/server/stateless", "a request is answered with JSON, or with events if notifications come first"),
      by("http/client/subscriptions", "is opened again when it drops, and ends with its client"),
    ),
    {
      id: "T-72",
      level: "MUST",
      says: "Intermediaries forward headers of arguments.",
      later: "belongs to a gateway",
    },
    http(
      "T-81",
      "An argument may ask for a header of its own under strict rules.",
      by("protocol/mirrored-params", "may not lie under %s", "may not stand on %s", "may not name a header %j"),
    ),
    http(
      "T-82",
      "A client leaves out a tool that breaks those rules.",
      by("http/client/stateless", "is left out of the list, with a report, when its annotation is wrong"),
    ),
    http(
      "T-83",
      "A client writes such an argument into its header.",
      by("http/client/stateless", "is called with them as it was listed, and without what is not there"),
    ),
    http(
      "T-84",
      "A server refuses a header that does not say what the argument says.",
      by("http/server/stateless", "headers and body agree: %s"),
      turnedAway,
    ),
  ],
};
