import { by, type Group, page } from "./requirement.js";

const context = "server/context";

/** Completion. */
export const completion: Group = {
  name: "completion",
  prefix: "CM",
  link: page("server/utilities/completion"),
  requirements: [
    {
      id: "CM-1",
      level: "MUST",
      says: "A server that completes declares it in the revisions that have a word for it.",
      proved: by("server/features/completion", "the capability is declared if the revision has it"),
    },
    {
      id: "CM-2",
      level: "SHOULD",
      says: "At most a hundred values go out, and it is said that there are more.",
      proved: by("server/features/completion", "a hundred values go out at most, and it is said that there are more"),
    },
    {
      id: "CM-3",
      level: "SHOULD",
      says: "Arguments that are settled help to complete the others.",
      proved: by("server/features/completion", "variables of a template are completed with what is settled"),
    },
    {
      id: "CM-4",
      level: "SHOULD",
      says: "What cannot be completed is an error with the code of its reason.",
      proved: by(
        "server/features/completion",
        "it does not exist where nothing completes",
        "a resource that is no template has no values; one that does not exist is an error",
      ),
    },
    {
      id: "CM-5a",
      level: "MUST",
      says: "What comes in to be completed is checked.",
      proved: by("server/features/completion", "params that are none are -32602, each by its place: %j"),
    },
    {
      id: "CM-5b",
      level: "MUST",
      says: "Completion gives away nothing that its caller may not know, and is limited in rate.",
      later: "access and rates are up to HTTP and OAuth, the values to the author of the completion",
    },
  ],
};

/** Log messages. */
export const logging: Group = {
  name: "logging",
  prefix: "LG",
  link: page("server/utilities/logging"),
  requirements: [
    {
      id: "LG-1",
      level: "MUST",
      says: "A server that logs declares it.",
      proved: [
        ...by(
          "server/session/stateless-server",
          "and sends a discovery, gets versions, capabilities and how long they may be cached",
        ),
        ...by("client/session/negotiation", "without a tool there is no tools/list"),
      ],
    },
    {
      id: "LG-2",
      level: "SHOULD",
      says: "A session sets its lowest log level; an unknown level is -32602.",
      proved: [
        ...by(context, "sends messages at least as severe as the level that was set: %s"),
        ...by("session/messages", "refuses %j and lists what it takes"),
      ],
    },
    {
      id: "LG-3",
      level: "MUST",
      says: "A request of the stateless era hears what it has asked for, before its answer, and otherwise nothing.",
      proved: by(
        context,
        "sends to a request of the stateless era the levels that it requested: %s",
        "sends nothing to a request of the stateless era without a level, whatever level a session has set",
      ),
    },
    {
      id: "LG-4a",
      level: "MUST",
      says: "A log message carries any JSON, and always some.",
      proved: by(context, "carries any JSON: %j"),
    },
    {
      id: "LG-4b",
      level: "MUST",
      says: "The inside of a server is not logged to its clients.",
      proved: by("server/contract", "is reported to its owner only, at every log level of the client"),
    },
    {
      id: "LG-4c",
      level: "MUST",
      says: "Secrets and what is personal are not logged.",
      later: "up to the author of the handler: the library logs nothing to a client by itself",
    },
  ],
};

/** Lists in pages. */
export const pagination: Group = {
  name: "pagination",
  prefix: "PG",
  link: page("server/utilities/pagination"),
  requirements: [
    {
      id: "PG-1",
      level: "SHOULD",
      says: "Every list can come in pages.",
      proved: by("server/features/registration", "comes in pages in %s"),
    },
    {
      id: "PG-2",
      level: "MUST",
      says: "A client gives a cursor back as it came, whatever it looks like: any cursor means that there is more.",
      proved: by("client/verbs/listed-tools", "is fetched page by page, as it is read"),
    },
    {
      id: "PG-3",
      level: "MUST",
      says: "A list without a next cursor has ended, and no cursor is kept beyond the conversation.",
      proved: by("client/verbs/listed-tools", "is fetched page by page, as it is read", "can be had whole"),
    },
    {
      id: "PG-4",
      level: "SHOULD",
      says: "A cursor stays where it is while the list changes; what is no cursor is -32602.",
      proved: by(
        "server/features/registration",
        "a cursor stays where it is while the list changes around it",
        "refuses what is no cursor of it",
      ),
    },
    {
      id: "PG-5",
      level: "SHOULD",
      says: "A list that does not end is left.",
      proved: by("client/verbs/listed-tools", "that repeats a cursor ends there", "of more than 64 pages is endless"),
    },
  ],
};
