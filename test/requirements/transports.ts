import { by, type Group, page, type Requirement } from "./requirement.js";

/** Over HTTP nothing is spoken yet. */
function http(id: string, says: string): Requirement {
  return { id, level: "MUST", says, later: "belongs to HTTP" };
}

/** Carriers of messages. */
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
          "framing",
          "what is encoded arrives, in any chunks",
          "any bytes in any chunks give what they give in one",
        ),
      ],
    },
    {
      id: "T-2",
      level: "MUST",
      says: "The library writes messages to stdout and nothing else; words for people go to stderr.",
      proved: by("mcp/stdio", "that fails tells its client no more than that, and stderr the rest"),
    },
    {
      id: "T-3",
      level: "SHOULD",
      says: "In the handshake era both sides may ask.",
      proved: by("asking/handshake", "the same handler asks with requests, and its effect happens once"),
    },
    {
      id: "T-4a",
      level: "MUST",
      says: "A server of the stateless era writes no requests.",
      proved: [
        ...by("asking/stateless", "a handler with two questions runs in three rounds"),
        ...by("revisions", "a server without requests of its own asks inside a result"),
      ],
    },
    {
      id: "T-4b",
      level: "MUST",
      says: "A client of the stateless era writes no responses.",
      proved: by("client/answers", "in the stateless era is reported and not answered"),
    },
    {
      id: "T-5",
      level: "MUST",
      says: "Behind a cancellation a server of the stateless era says nothing more of the request.",
      proved: by("mcp/messages", "stops a call of the stateless era in the same way"),
    },
    {
      id: "T-6",
      level: "SHOULD",
      says: "A server exits at the end of its input, and a client ends one that does not.",
      proved: [
        ...by("mcp/stdio", "at the end of its input a server process"),
        ...by("node/child-close", "tells a child that ignores the end of its input to end"),
      ],
    },
    {
      id: "T-7",
      level: "SHOULD",
      says: "A client starts a process again that has ended, and subscribes again.",
      proved: by("client/reopen", "a process that dies is started again, and hears of what changes: %s"),
    },
    {
      id: "T-8",
      level: "SHOULD",
      says: "A frame has a bound, and a peer that keeps breaking it is left.",
      proved: by(
        "jsonrpc/oversized",
        "a frame over the limit, over $name",
        "closes the connection when it is the third",
      ),
    },
    {
      id: "T-9",
      level: "MUST",
      says: "A carrier of another kind keeps the messages and the lifecycle.",
      proved: by("mcp/client", "a server in the same process is spoken to in the newest revision"),
    },
    http("T-20", "HTTP+SSE has two endpoints; its first event names the one to post to."),
    http("T-21", "Over HTTP+SSE a client posts, and a server answers by events."),
    http("T-23", "Over HTTP+SSE a server checks the origin of a request."),
    http("T-30", "One path takes POST and GET."),
    http("T-31", "A server checks the origin of every request."),
    http("T-32", "A client posts each message by itself, as JSON, and accepts JSON and events."),
    http("T-34", "A post without requests is accepted with 202 and no body."),
    http("T-35", "A request is answered by JSON or by events; a client takes both."),
    http("T-39", "A message goes to one stream, and an unrelated stream carries no response."),
    http("T-40", "A client names the version that was agreed on in a header."),
    http("T-42", "A version in the header that is not spoken is refused with 400."),
    http("T-43", "A session id is made of visible ASCII."),
    http("T-44", "A client repeats its session id; an unknown one is answered with 404, and it starts anew."),
    http("T-46", "A session is no proof of who asks."),
    http("T-47", "An event id names one event of a session."),
    http("T-48", "A stream that is resumed replays nothing of another stream."),
    http("T-60", "In the stateless era one path takes POST alone."),
    http("T-61", "In the stateless era a server checks the origin too."),
    http("T-62", "In the stateless era a client posts one request or one notification."),
    http("T-63", "In the stateless era a notification is accepted with 202."),
    http("T-64", "In the stateless era a request is answered by JSON or by events."),
    http("T-65", "Headers repeat version, method and name of a request; what differs is refused."),
    http("T-66", "Names of headers ignore case, their values do not."),
    http("T-67", "A value that a header cannot hold is written in base64."),
    http("T-68", "Events of a request belong to it, and none of them is a request."),
    http("T-69", "Closing the response is the cancellation."),
    http("T-70", "A broken stream loses its request; nothing is replayed."),
    http("T-72", "Whoever stands between passes headers of arguments on."),
    http("T-81", "An argument may ask for a header of its own under strict rules."),
    http("T-82", "A client leaves out a tool that breaks those rules."),
    http("T-83", "A client writes such an argument into its header."),
    http("T-84", "A server refuses a header that does not say what the argument says."),
  ],
};
