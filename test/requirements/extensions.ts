import { by, type Group, type Proof, page, type Requirement } from "./requirement.js";

function task(id: string, says: string): Requirement {
  return { id, level: "MUST", says, later: "belongs to the extension that has tasks in the stateless era" };
}

function lifecycle(...tests: readonly string[]): readonly Proof[] {
  return by("server/features/tasks/lifecycle", ...tests);
}

/** Tasks of 2025-11-25. */
export const tasks: Group = {
  name: "tasks",
  prefix: "TK",
  link: page("basic/utilities/tasks", "2025-11-25"),
  requirements: [
    {
      id: "TK-1",
      level: "MUST",
      says: "Who has not declared tasks answers a call that asks for one as any other.",
      proved: [
        ...by("requirements/lists", "a call that asks for a task is answered at once"),
        ...by(
          "server/features/tasks/everywhere",
          "tasks are promised if a tool may run as one",
          "tasks are advertised to no client",
        ),
        ...by(
          "server/features/tasks/everywhere",
          "a call that asks for a task is a call, whatever its tool says of tasks",
        ),
      ],
    },
    {
      id: "TK-2a",
      level: "MUST",
      says: "A tool says whether it may, must or cannot run as a task, and a call that does not fit is -32601.",
      proved: lifecycle(
        "one that requires a task is refused without",
        "one that says nothing is refused as a task",
        "one that may run as a task is called either way",
        "and the list of tools says it too",
      ),
    },
    {
      id: "TK-2b",
      level: "MUST",
      says: "A client calls a tool as the tool says.",
      proved: by(
        "client/verbs/tasks",
        "is called as any other, once it is listed: %s",
        "that does not exist is an error of the server",
      ),
    },
    {
      id: "TK-3",
      level: "MUST",
      says: "A task is made at once and says when it was made and how long it lasts.",
      proved: [
        ...lifecycle("is answered at once with a task that works", "gets the time that it asks for"),
        ...by("server/features/tasks/bounds", "is made with the time that has passed since"),
      ],
    },
    {
      id: "TK-4",
      level: "MUST",
      says: "A task goes through its states in order, and the last is final.",
      proved: [
        ...by("server/features/tasks/model", "a final status is final"),
        ...lifecycle("of a tool that fails is a result, and the task has failed"),
      ],
    },
    {
      id: "TK-5",
      level: "MUST",
      says: "The result of a task is that of its call, and is waited for.",
      proved: [
        ...by("server/features/tasks/model", "each result has one outcome"),
        ...lifecycle(
          "is waited for, is that of the call, and names the task",
          "of a call that ends with an error is that",
        ),
      ],
    },
    {
      id: "TK-6",
      level: "SHOULD",
      says: "What a task asks comes to who waits for its result.",
      proved: [
        ...by(
          "server/features/tasks/questions",
          "waits for input, requests it from the client that waits for its result",
          "asks at once if somebody waits",
        ),
        ...by("server/features/tasks/questions", "several questions at once are one time of waiting for input"),
      ],
    },
    {
      id: "TK-7",
      level: "MUST",
      says: "What belongs to a task names it.",
      proved: [
        ...lifecycle("names it, under the token that the call has brought", "is not in what is said of it: get, list"),
        ...by(
          "server/features/tasks/questions",
          "waits for input, requests it from the client that waits for its result",
        ),
      ],
    },
    {
      id: "TK-8",
      level: "MUST",
      says: "A task that has ended cannot be cancelled, one that is cancelled stays so, and both are of who made them.",
      proved: [
        ...lifecycle("is cancelled before the answer, its handler is aborted, and it stays so"),
        ...lifecycle("cannot be one that has ended: %s", "has every task in the order of their making, in pages"),
        ...by("server/features/tasks/everywhere", "a task belongs to the caller that the transport names"),
      ],
    },
    {
      id: "TK-10",
      level: "SHOULD",
      says: "A task that has outlived its time is unknown.",
      proved: by("server/features/tasks/bounds", "is gone, with its result", "is aborted if it still runs"),
    },
  ],
};

/** Tasks as an extension. */
export const taskExtension: Group = {
  name: "tasks (extension)",
  prefix: "TX",
  link: "https://github.com/modelcontextprotocol/ext-tasks",
  requirements: [
    task("TX-1", "A server makes a task for who has declared the extension."),
    task("TX-2", "A task is a kind of result, of calls of tools alone."),
    task("TX-3", "A task can be asked for as soon as it is told."),
    task("TX-4", "Asked for, a task tells its questions, its result or its error."),
    task("TX-5", "Answers to a task are acknowledged with nothing; keys are used once."),
    task("TX-6", "A cancellation of a task is acknowledged with nothing; an unknown task is -32602."),
    task("TX-8", "Who has not declared the extension is told so."),
    task("TX-9", "Over HTTP a header names the task; ids cannot be guessed."),
  ],
};

/** Skills as an extension. */
export const skills: Group = {
  name: "skills (extension)",
  prefix: "SK",
  link: "https://modelcontextprotocol.io/extensions/overview",
  requirements: [
    {
      id: "SK-3",
      level: "MUST",
      says: "A host checks every file of a skill and runs none by itself.",
      later: "belongs to the extensions",
    },
  ],
};

/** Apps as an extension. */
export const apps: Group = {
  name: "apps (extension)",
  prefix: "AP",
  link: "https://github.com/modelcontextprotocol/ext-apps",
  requirements: [
    {
      id: "AP-2",
      level: "MUST",
      says: "A host keeps tools of apps and of models apart.",
      later: "belongs to the extensions",
    },
    { id: "AP-3", level: "MUST", says: "A host shuts an app in.", later: "belongs to the extensions" },
  ],
};

/** Metadata of messages. */
export const metadata: Group = {
  name: "metadata",
  prefix: "ME",
  link: page("basic"),
  requirements: [
    {
      id: "ME-1",
      level: "MUST",
      says: "A key of _meta is a name, with or without a prefix, of the allowed characters.",
      proved: by(
        "server/features/meta-keys",
        "may not have the key %j, and the error names it",
        "%s goes out with keys that have the form, and not with others",
        "a notification of a middleware goes out with keys that have the form",
        "what comes in is taken as it is",
      ),
    },
    {
      id: "ME-3a",
      level: "MUST",
      says: "Keys that this side does not know are passed on.",
      proved: [
        ...by("protocol/revisions/request-meta", "keys of others"),
        ...by("server/context", "the client of a session"),
      ],
    },
    {
      id: "ME-3b",
      level: "MUST",
      says: "The context of a trace has the format of the W3C.",
      later: "belongs to tracing: such keys are passed on and not made",
    },
  ],
};

/** Pictures. */
export const icons: Group = {
  name: "icons",
  prefix: "IC",
  link: page("basic"),
  requirements: [
    {
      id: "IC-1",
      level: "MUST",
      says: "Who shows an icon fetches it safely.",
      later: "belongs to the host and its user interface",
    },
  ],
};

/** Schemas. */
export const schemas: Group = {
  name: "schemas",
  prefix: "JS",
  link: page("basic"),
  requirements: [
    {
      id: "JS-1",
      level: "MUST",
      says: "A schema is of 2020-12 unless it says otherwise; a dialect that is not spoken is refused by its name.",
      proved: [
        ...by(
          "schema/references",
          "%s is refused by its name",
          "2020-12 by its name does not take the forms of draft-07",
        ),
        ...by("schema/json-schema", "%j is refused when it is compiled, not when it is used"),
      ],
    },
    {
      id: "JS-2",
      level: "MUST",
      says: "Nothing is fetched for a schema; references inside it work, others are refused.",
      proved: [
        ...by("schema/hostile", "that wants something fetched"),
        ...by("schema/references", "a reference inside the document", "a reference that leads nowhere"),
      ],
    },
    {
      id: "JS-3",
      level: "SHOULD",
      says: "Depth, size and time of a schema are bounded.",
      proved: by(
        "schema/hostile",
        "nested deeper than 32 subschemas",
        "after the maximum number of steps, with a fault that names it",
      ),
    },
    {
      id: "JS-4",
      level: "SHOULD",
      says: "A schema goes over the wire as it was written.",
      proved: by("schema/json-schema", "goes over the wire as it is, frozen and with all its annotations"),
    },
  ],
};
