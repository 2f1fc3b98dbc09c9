import { by, type Group, page } from "./requirement.js";

const tooling = "server/features/tools";
const outcomes = "server/features/tool-results";

/** Tools. */
export const tools: Group = {
  name: "tools",
  prefix: "TL",
  link: page("server/tools"),
  requirements: [
    {
      id: "TL-1",
      level: "MUST",
      says: "A server that offers tools declares them, and says that it tells of changes only if it does.",
      proved: [
        ...by("client/session/negotiation", "without a tool there is no tools/list"),
        ...by(
          "server/session/stateless-server",
          "and sends a discovery, gets versions, capabilities and how long they may be cached",
        ),
        ...by("server/features/changes", "is notified of every list that changes"),
      ],
    },
    {
      id: "TL-2",
      level: "MUST",
      says: "The list of tools depends neither on the connection nor on earlier calls.",
      proved: [
        ...by(tooling, "is the same bytes every time, on every channel"),
        ...by("requirements/lists", "every list is the same for every connection, whatever was called before"),
      ],
    },
    {
      id: "TL-3",
      level: "SHOULD",
      says: "The order of the list stays as long as the tools do.",
      proved: by(tooling, "has all that was said of a tool, in the order of definition"),
    },
    {
      id: "TL-4",
      level: "SHOULD",
      says: "A change of the list is told to open conversations, and to those who listen for it.",
      proved: [
        ...by("server/features/changes", "is notified of every list that changes"),
        ...by("server/features/listen", "notifies only of requested changes"),
      ],
    },
    {
      id: "TL-5",
      level: "SHOULD",
      says: "The name of a tool is 1 to 128 of the allowed characters, and is given once.",
      proved: by(tooling, "may not be %j", "may not be given twice"),
    },
    {
      id: "TL-8",
      level: "MUST",
      says: "A tool has an input schema, and its root is an object.",
      proved: [
        ...by(tooling, "of a tool that was refused for its schema is free"),
        ...by("schema/standard-schema", "must be an object at the root if the protocol requires one"),
        ...by("hardening/peers/c10-bad-definitions", "with arguments that are no schema"),
      ],
    },
    {
      id: "TL-9",
      level: "SHOULD",
      says: "Arguments that are left out are none.",
      proved: by(tooling, "that are left out are none"),
    },
    {
      id: "TL-10",
      level: "MUST",
      says: "A client does not trust what a tool says of itself.",
      later: "belongs to the host: the library passes annotations on and decides nothing by them",
    },
    {
      id: "TL-11a",
      level: "MUST",
      says: "A server checks the arguments of a tool before the tool sees them.",
      proved: by(tooling, "with faults in two places get both", "any is refused"),
    },
    {
      id: "TL-11b",
      level: "MUST",
      says: "A server controls who may call a tool, how often, and what goes out.",
      later: "access is up to HTTP and OAuth, the rest to the author of the tool",
    },
    {
      id: "TL-12",
      level: "SHOULD",
      says: "Unknown tools and ill-formed calls are errors of the protocol; what goes wrong in a tool is its result.",
      proved: [
        ...by(tooling, "the unknown tool %j", "params that are no call are -32602:"),
        ...by(outcomes, "a ToolError with words: a result for the model"),
      ],
    },
    {
      id: "TL-14",
      level: "MUST",
      says: "A result has content, even if it is empty.",
      proved: [
        ...by("client/verbs/client-calls", "an object without content"),
        ...by("session/traffic", "what our server sends in %s is valid, and is all there"),
      ],
    },
    {
      id: "TL-15",
      level: "MUST",
      says: "What a tool with an output schema returns fits it, and is an object where the revision wants one.",
      proved: by(
        outcomes,
        "returns something else: an internal error, and the fault is reported: %s",
        "may be no object in the newest revision; a client of an older one sees it wrapped in one",
        "may fail: a failure need not fit the schema",
      ),
    },
    {
      id: "TL-18",
      level: "SHOULD",
      says: "A tool may ask before it answers.",
      proved: by("server/input/stateless", "a handler with two questions runs in three rounds"),
    },
  ],
};

/** Resources. */
export const resources: Group = {
  name: "resources",
  prefix: "RS",
  link: page("server/resources"),
  requirements: [
    {
      id: "RS-1",
      level: "MUST",
      says: "A server that offers resources declares them; subscriptions are declared apart.",
      proved: [
        ...by("server/features/resources", "a server without resources does not know their methods"),
        ...by("server/features/changes", "has subscriptions only where the server offers them"),
      ],
    },
    {
      id: "RS-2",
      level: "MUST",
      says: "Lists of resources depend neither on the connection nor on earlier calls.",
      proved: by("requirements/lists", "every list is the same for every connection, whatever was called before"),
    },
    {
      id: "RS-3",
      level: "MUST",
      says: "A resource is named by a URI, of whatever scheme.",
      proved: by("server/features/resources", "%j is no URI", "at %j, which is no URI"),
    },
    {
      id: "RS-4",
      level: "MUST",
      says: "Contents are text or base64, never both.",
      proved: by("server/features/resources", "bytes in base64", "nothing else: %j is a fault of the server"),
    },
    {
      id: "RS-5",
      level: "MUST",
      says: "A resource that does not exist is an error with the code of the revision and names its URI.",
      proved: [
        ...by("server/features/resources", "what a reader does not find does not exist"),
        ...by("protocol/revisions/revisions", "a resource that is not there got another code in the stateless era"),
      ],
    },
    {
      id: "RS-6",
      level: "SHOULD",
      says: "Templates are those of RFC 6570, and what they expand to can be read.",
      proved: by("server/features/uri-template", "what a template expands to, it matches, and gives back the values"),
    },
    {
      id: "RS-7",
      level: "SHOULD",
      says: "Subscribing and unsubscribing may be repeated, and only subscribers are told.",
      proved: by(
        "server/features/changes",
        "is notified of subscribed resources until it unsubscribes",
        "and another one are notified of their own subscriptions only",
      ),
    },
    {
      id: "RS-8",
      level: "SHOULD",
      says: "In the stateless era resources are followed by listening.",
      proved: by("server/features/listen", "names the resources that exist, or could"),
    },
    {
      id: "RS-10",
      level: "MUST",
      says: "Every URI is checked, and none climbs out of its place.",
      proved: [
        ...by("server/features/resources", "%s leads nowhere", "%j is no URI"),
        ...by("server/features/uri-template", "%s is no value of {x}, nor of {+x}, nor of {?x}"),
      ],
    },
  ],
};

/** Prompts. */
export const prompts: Group = {
  name: "prompts",
  prefix: "PR",
  link: page("server/prompts"),
  requirements: [
    {
      id: "PR-1",
      level: "MUST",
      says: "A server that offers prompts declares them, and tells of changes if it says so.",
      proved: [
        ...by("server/features/prompts", "a server without prompts does not know their methods"),
        ...by("server/features/changes", "is notified of every list that changes"),
      ],
    },
    {
      id: "PR-2",
      level: "SHOULD",
      says: "An unknown prompt, or a missing argument, is -32602.",
      proved: by(
        "server/features/prompts",
        "params that are none are -32602: %j",
        "arguments that do not fit are -32602",
      ),
    },
    {
      id: "PR-3",
      level: "MUST",
      says: "Arguments are strings, checked before use; messages are of the shape of the protocol.",
      proved: [
        ...by("server/features/prompts", "arguments that do not fit are -32602, each by its place: %s %j"),
        ...by("server/session/revisions", "accepts the answer to %s %j"),
      ],
    },
    {
      id: "PR-4",
      level: "MUST",
      says: "What comes in as an argument is not trusted.",
      later:
        "checking is the library's (the rule before); what a text may do to a model is the author's and the host's",
    },
    {
      id: "PR-5",
      level: "SHOULD",
      says: "A prompt may ask before it answers.",
      proved: by("server/features/prompts", "what waits for a person"),
    },
  ],
};
