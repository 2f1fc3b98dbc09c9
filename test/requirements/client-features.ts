import { by, type Group, page } from "./requirement.js";

const questions = "requirements/questions";
const answers = "belongs to the client's answers";
const host = "belongs to the host and its user interface";

/** Forms and pages for a person. */
export const elicitation: Group = {
  name: "elicitation",
  prefix: "EL",
  link: page("client/elicitation"),
  requirements: [
    {
      id: "EL-1",
      level: "MUST",
      says: "A person is asked only in a way that the client has declared; an empty capability means forms.",
      proved: [
        ...by(
          "server/input/stateless",
          "a question that a client cannot answer is refused by the name of the capability",
        ),
        ...by(questions, "a form is no page: %j"),
        ...by("server/input/forms", "is no page, even for a client that says it could show one"),
      ],
    },
    {
      id: "EL-2",
      level: "MUST",
      says: "The mode is named where the revision has modes, and a form where it is not.",
      proved: by("server/input/handshake", "a form says what its revision knows"),
    },
    {
      id: "EL-3a",
      level: "MUST",
      says: "A form is a flat object of simple fields, and says nothing that the protocol has no word for.",
      proved: by(questions, "a form keeps what the protocol knows of a field", "a form cannot ask for %s"),
    },
    {
      id: "EL-3b",
      level: "MUST",
      says: "A form of 2025-06-18 has no choice of several, and no defaults but of yes and no.",
      proved: by(
        "server/input/forms",
        "where it can, and is an error that says so where not",
        "asks for %s",
        "that asks for %s is one of the published schema",
      ),
    },
    {
      id: "EL-4",
      level: "SHOULD",
      says: "A person accepts, declines or cancels, and each is an answer.",
      proved: by("server/input/handshake", "a person who declines is an answer, and a client that fails is an error"),
    },
    {
      id: "EL-5",
      level: "SHOULD",
      says: "The server checks what was filled in, in every revision.",
      proved: [
        ...by("server/input/stateless", "an answer that does not fit its question is an error that names the place"),
        ...by(questions, "an answer to a request is checked as well"),
      ],
    },
    {
      id: "EL-6a",
      level: "MUST",
      says: "A server copes with a person who declines and with a client that fails.",
      proved: by("server/input/handshake", "a person who declines is an answer, and a client that fails is an error"),
    },
    {
      id: "EL-6b",
      level: "MUST",
      says: "A server requests no secret in a form, and binds a form to its user.",
      later: "secrets are up to the author of the handler, identity to OAuth",
    },
    { id: "EL-7", level: "MUST", says: "A client shows who asks and what, and lets a person refuse.", later: host },
    {
      id: "EL-8a",
      level: "MUST",
      says: "A page is named by a URL.",
      proved: by(questions, "a page that is no URL is not asked for"),
    },
    {
      id: "EL-8b",
      level: "MUST",
      says: "A URL has no user data, and is opened by the user that was asked.",
      later: "up to the author of the handler, and to OAuth",
    },
    {
      id: "EL-9",
      level: "MUST",
      says: "Where the revision wants it, a visit has an id, and the server may tell its end; the call is made again then.",
      proved: [
        ...by("server/input/handshake", "a URL elicitation has an id if the revision requires one"),
        ...by(
          "hardening/peers/c06-url-elicitation",
          "after the call that wanted it, and the client makes the call again",
          "asks for the page once, and does nothing by itself until its time is over",
        ),
      ],
    },
    {
      id: "EL-10",
      level: "MUST",
      says: "A client refuses a mode that it has not declared.",
      proved: by("client/input/input-handlers", "%s calls no handler", "for what was not declared is unknown: %s"),
    },
    {
      id: "EL-11",
      level: "MUST",
      says: "What a visit gains is bound to the user and stays with the server.",
      later: "belongs to OAuth",
    },
    {
      id: "EL-12",
      level: "MUST",
      says: "Before there were modes a form asks for nothing sensitive.",
      later: "up to the author of the handler, and to the host",
    },
  ],
};

/** Asking the client's model. */
export const sampling: Group = {
  name: "sampling",
  prefix: "SM",
  link: page("client/sampling"),
  requirements: [
    {
      id: "SM-1",
      level: "MUST",
      says: "A model is asked, and given tools, only where the client has declared it.",
      proved: [
        ...by(questions, "tools are given to a model only where the client can"),
        ...by("server/input/sampling", "go to a client that declares them, where the revision has them"),
      ],
    },
    { id: "SM-2", level: "MUST", says: "A client heeds the number of tokens.", later: answers },
    {
      id: "SM-3",
      level: "MUST",
      says: "Every use of a tool is followed by its result, and by nothing else.",
      proved: by(
        "server/input/sampling",
        "is refused before it is sent, naming %s: %s",
        "may use tools whose results follow",
      ),
    },
  ],
};

/** Where a server may work. */
export const roots: Group = {
  name: "roots",
  prefix: "RT",
  link: page("client/roots"),
  requirements: [
    {
      id: "RT-1",
      level: "MUST",
      says: "A root is a file URI; a client that says so tells of changes.",
      proved: by(
        "client/input/input-handlers",
        "for roots that are no files is a fault of this side",
        "are told in %s",
      ),
    },
    { id: "RT-2", level: "MUST", says: "A client exposes what it may, and guards it.", later: answers },
    {
      id: "RT-3",
      level: "SHOULD",
      says: "A client without roots does not know the method.",
      proved: by("client/verbs/listed-tools", "is answered to ping alone"),
    },
  ],
};

/** Signs of life. */
export const ping: Group = {
  name: "ping",
  prefix: "PI",
  link: page("basic/utilities/ping", "2025-11-25"),
  requirements: [
    {
      id: "PI-1",
      level: "MUST",
      says: "A ping is answered at once, by either side, at any time.",
      proved: [
        ...by("server/session/handshake-steps", "ping is answered at every step"),
        ...by(
          "client/verbs/listed-tools",
          "may come before its answer to initialize, if it is a ping",
          "is answered to ping alone",
        ),
      ],
    },
  ],
};
