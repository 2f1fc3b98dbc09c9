import { by, type Group, page } from "./requirement.js";

const profile = "jsonrpc/profile";

/** JSON-RPC as MCP has it. */
export const messages: Group = {
  name: "messages",
  prefix: "J",
  link: page("basic"),
  requirements: [
    {
      id: "J-1",
      level: "MUST",
      says: 'A message is one JSON object that says jsonrpc "2.0", in UTF-8.',
      proved: [
        ...by("client/verbs/client-calls", "the wrong version of JSON-RPC"),
        ...by("jsonrpc/codec/oversized", "are a parse error, and the connection lives: %s"),
        ...by("properties/codec", "is one line, and decodes to the same message"),
      ],
    },
    {
      id: "J-2",
      level: "MUST",
      says: "A request has an id and a notification has none: the member decides, whatever its value.",
      proved: by(profile, "J-10: id null", "J-8: an unknown notification"),
    },
    {
      id: "J-3",
      level: "MUST",
      says: "A response has either a result or an error, never both and never neither.",
      proved: [
        ...by("jsonrpc/responses", "$answer fails its call as a breach of the protocol"),
        ...by("client/verbs/client-calls", "both a result and an error"),
        ...by("jsonrpc/codec/validate", "a message must have a method, a result or an error"),
      ],
    },
    {
      id: "J-4",
      level: "MUST",
      says: "Params are an object wherever there are any.",
      proved: by(profile, "J-4: positional params are invalid params", "J-4: params that are no structure"),
    },
    {
      id: "J-5",
      level: "MUST",
      says: "A result is an object, even where there is nothing to say.",
      proved: [
        ...by(profile, "J-5: a handler that returns undefined has the result {}"),
        ...by("client/verbs/client-calls", "tools/call: the result is not an object"),
      ],
    },
    {
      id: "J-6",
      level: "MUST",
      says: "An error has a code that is an integer, and a message.",
      proved: [
        ...by("jsonrpc/calls/handlers", "a code that is no integer cannot be made"),
        ...by("client/verbs/client-calls", "an error without a message"),
      ],
    },
    {
      id: "J-7",
      level: "SHOULD",
      says: "Members that this side does not know are taken, and what is open to others is kept.",
      proved: [
        ...by("client/session/negotiation", "unknown members are allowed"),
        ...by("server/context", "the client of a session"),
        ...by("schema/json-schema", "goes over the wire as it is, frozen and with all its annotations"),
      ],
    },
    {
      id: "J-8",
      level: "MUST",
      says: "A notification is never answered, not even by an error.",
      proved: [
        ...by(profile, "J-8: a notification that throws", "J-8: a notification without jsonrpc"),
        ...by("client/session/negotiation", "a notification is never answered:"),
      ],
    },
    {
      id: "J-9",
      level: "MUST",
      says: "A response carries the id of its request, in value and in type.",
      proved: by("session/messages", "are echoed as they came: %s", "1 and the text 1 are two of them"),
    },
    {
      id: "J-10",
      level: "MUST",
      says: "An id is a string or an integer; null and fractions are refused.",
      proved: [
        ...by("session/messages", "of another kind are refused, and the answer has none: %s"),
        ...by(profile, "J-10: id 1.5"),
      ],
    },
    {
      id: "J-11",
      level: "MUST",
      says: "A sender uses no id twice in a session.",
      proved: by("jsonrpc/codec/ids", "the ids of this side rise by one, whatever becomes of the calls"),
    },
    {
      id: "J-12",
      level: "MUST",
      says: "In the stateless era an id may come again once it was answered; nothing lasting hangs on it.",
      proved: by("server/session/stateless-server", "may have the id of a request that was answered"),
    },
    {
      id: "J-13",
      level: "SHOULD",
      says: "Ids of the two sides have nothing to do with each other.",
      proved: by("client/verbs/listed-tools", "may have the id of a call of the client"),
    },
    {
      id: "J-14",
      level: "SHOULD",
      says: "An error about what has no readable id goes out without one, and is taken with null or with none.",
      proved: by(profile, "J-14: JSON that is cut", "J-14: a failure may come without an id or with null"),
    },
    {
      id: "J-15",
      level: "SHOULD",
      says: "A response that no call waits for is ignored, and so is a second one.",
      proved: by(
        "jsonrpc/responses",
        "$answer is reported, and the call goes on",
        "a second answer to the same call is reported and changes nothing",
      ),
    },
    {
      id: "J-18",
      level: "SHOULD",
      says: "Requests run side by side: one that waits holds up neither the others nor its own cancellation.",
      proved: by("jsonrpc/calls/handlers", "handlers run side by side, and the first to end is answered first"),
    },
    {
      id: "J-21",
      level: "MUST",
      says: "2025-03-26 takes batches, and no other revision does.",
      proved: by(
        "session/messages",
        "is a batch in 2025-03-26: answered by one array, of answers alone",
        "is refused in %s",
      ),
    },
    {
      id: "J-22",
      level: "MUST",
      says: "No batch is sent where the revision has none.",
      proved: by(profile, "J-22: this side sends no batch"),
    },
    {
      id: "J-23",
      level: "MUST",
      says: "A client sends initialize on its own; a server serves one in a batch, and reports it.",
      proved: by("session/messages", "with initialize in it is answered, and opens the conversation anew"),
    },
    {
      id: "J-25",
      level: "MUST",
      says: "An empty batch is one error; a batch without requests is answered by nothing.",
      proved: by("session/messages", "of notifications is answered by nothing, an empty one by one error"),
    },
    {
      id: "J-28",
      level: "SHOULD",
      says: "Batches count from the agreement on their revision on, not before.",
      proved: by("session/messages", "counts from the answer to initialize on, not from what follows it"),
    },
    {
      id: "J-29",
      level: "SHOULD",
      says: "2024-11-05, which does not speak of batches, has none: they are refused with what to do instead, and not sent.",
      proved: [...by("session/messages", "is refused in %s"), ...by(profile, "J-22: this side sends no batch")],
    },
    {
      id: "J-31",
      level: "MUST",
      says: "Nothing is read into codes from -32019 to -32000 that others have made up.",
      proved: by(
        "client/session/probe",
        "anything else that a server answers means the handshake, on the same transport:",
      ),
    },
    {
      id: "J-32",
      level: "MUST",
      says: "Of the codes that belong to the specification only those go out that it has defined.",
      proved: [
        ...by("server/error-codes", "goes out in %s only where the revision has it"),
        ...by("protocol/error-codes", "has every code that a revision sends"),
        ...by("protocol/revisions/revisions", "codes come and go with what they are about"),
      ],
    },
    {
      id: "J-34",
      level: "MUST",
      says: "-32002 and -32042 do not go out in the stateless era.",
      proved: [
        ...by("server/error-codes", "goes out in %s only where the revision has it", "is that of the revision: %s"),
        ...by("server/error-codes", "a server that speaks the catalogue says what stands for it in %s:"),
        ...by(
          "protocol/revisions/revisions",
          "a resource that is not there got another code",
          "codes come and go with what they are about",
        ),
        ...by("server/features/resources", "of the stateless era"),
      ],
    },
    {
      id: "J-36",
      level: "SHOULD",
      says: "A method is unknown (-32601) where the revision or the server does not have it.",
      proved: [
        ...by("client/session/negotiation", "a method that is not there is -32601 and named:"),
        ...by(
          "server/contract",
          "what a server has not advertised is unknown in %s, and what it has is there:",
          "keeps to what was advertised when it was opened",
        ),
      ],
    },
    {
      id: "J-37",
      level: "SHOULD",
      says: "What is no JSON is answered with -32700, and the conversation goes on.",
      proved: by(profile, "J-14: JSON that is cut"),
    },
    {
      id: "J-38",
      level: "SHOULD",
      says: "An error gives away nothing of the inside of its sender.",
      proved: [
        ...by("jsonrpc/calls/handlers", "one Internal error, no leak, no crash, when a handler"),
        ...by("session/stdio", "that fails sends only an internal error to its client, and the details to stderr"),
      ],
    },
  ],
};
