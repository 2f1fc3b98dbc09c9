import type { Limits } from "@parlance/mcp/jsonrpc";
import type { Profile } from "../../packages/mcp/src/jsonrpc/profile.js";

// A second reading of the JSON-RPC 2.0 specification, written to be obviously right and not to be fast: every rule is
// tried on every value. Nothing here may come from the engine.

export type Kind = "request" | "notification" | "success" | "failure";

export interface Fault {
  readonly code: number;
  readonly pointer: string;
}

/** The kind of a parsed value, or all its faults. */
export interface Judgement {
  /** Undefined if there is a fault. */
  readonly kind: Kind | undefined;
  readonly faults: readonly Fault[];
  /** Undefined if there is none that could be echoed. */
  readonly id: unknown;
  /** The response that is due: a response with the id, one with `null`, or none. */
  readonly owes: "id" | "null" | "nothing";
}

type Members = Readonly<Record<string, unknown>>;

interface Terms {
  readonly profile: Profile;
  readonly limits: Limits;
}

interface Rule extends Fault {
  readonly says: string;
  broken(message: Members, terms: Terms): boolean;
}

const invalidRequest = -32_600;
const methodNotFound = -32_601;
const invalidParams = -32_602;

const version: Rule = {
  says: `jsonrpc is exactly "2.0"`,
  code: invalidRequest,
  pointer: "/jsonrpc",
  broken: ({ jsonrpc }) => jsonrpc !== "2.0",
};

const callRules: readonly Rule[] = [
  version,
  {
    says: "an id, if there is one, is a string, a number or null",
    code: invalidRequest,
    pointer: "/id",
    broken: (message, terms) => has(message, "id") && !isId(message.id, terms),
  },
  {
    says: "method is a string",
    code: invalidRequest,
    pointer: "/method",
    broken: ({ method }, { limits }) => typeof method !== "string" || method.length > limits.methodLength,
  },
  {
    says: "names that begin with rpc. belong to JSON-RPC, which defines none",
    code: methodNotFound,
    pointer: "/method",
    broken: ({ method }) => typeof method === "string" && method.startsWith("rpc."),
  },
  {
    says: "params, if there are any, are an object or an array",
    code: invalidRequest,
    pointer: "/params",
    broken: (message, { profile }) =>
      profile.positionalParams && has(message, "params") && !isStructured(message.params),
  },
  {
    says: "params, where positions are not spoken, are an object",
    code: invalidParams,
    pointer: "/params",
    broken: (message, { profile }) =>
      !profile.positionalParams &&
      has(message, "params") &&
      (!isStructured(message.params) || Array.isArray(message.params)),
  },
  {
    says: "a call has no result",
    code: invalidRequest,
    pointer: "/result",
    broken: (message) => has(message, "result"),
  },
  { says: "a call has no error", code: invalidRequest, pointer: "/error", broken: (message) => has(message, "error") },
];

const responseRules: readonly Rule[] = [
  version,
  {
    says: "a response has a result or an error",
    code: invalidRequest,
    pointer: "",
    broken: (message) => !has(message, "result") && !has(message, "error"),
  },
  {
    says: "a response does not have both",
    code: invalidRequest,
    pointer: "/error",
    broken: (message) => has(message, "result") && has(message, "error"),
  },
  {
    says: "a success has the id of its request; a failure may have none, or null",
    code: invalidRequest,
    pointer: "/id",
    broken: (message, terms) => {
      const mayBeWithout = has(message, "error") && (!has(message, "id") || message.id === null);
      return !mayBeWithout && (has(message, "result") || has(message, "error")) && !isId(message.id, terms);
    },
  },
  {
    says: "error is an object",
    code: invalidRequest,
    pointer: "/error",
    broken: (message) => has(message, "error") && !isObject(message.error),
  },
  {
    says: "its code is an integer",
    code: invalidRequest,
    pointer: "/error/code",
    broken: ({ error }) => isObject(error) && !Number.isSafeInteger(error.code),
  },
  {
    says: "its message is a string",
    code: invalidRequest,
    pointer: "/error/message",
    broken: ({ error }) => isObject(error) && typeof error.message !== "string",
  },
];

/** Judges a value as `JSON.parse` gives it. */
export function judge(value: unknown, profile: Profile, limits: Limits): Judgement {
  if (!isObject(value)) {
    return { kind: undefined, faults: [{ code: invalidRequest, pointer: "" }], id: undefined, owes: "null" };
  }
  const terms = { profile, limits };
  const isCall = has(value, "method");
  const faults = (isCall ? callRules : responseRules).filter((rule) => rule.broken(value, terms));
  const id = has(value, "id") && isId(value.id, terms) ? value.id : undefined;
  const kind = faults.length > 0 ? undefined : kindOf(value);
  return { kind, faults, id, owes: debtFor(value, faults, id) };
}

function kindOf(message: Members): Kind {
  if (has(message, "method")) return has(message, "id") ? "request" : "notification";
  return has(message, "result") ? "success" : "failure";
}

/** As the base profile has it. */
function debtFor(message: Members, faults: readonly Fault[], id: unknown): Judgement["owes"] {
  const isResponse = !has(message, "method") && (has(message, "result") || has(message, "error"));
  const isWellFormed = faults.every(({ code }) => code === methodNotFound);
  if (isResponse || (isWellFormed && !has(message, "id"))) return "nothing";
  return id === undefined ? "null" : "id";
}

function isId(id: unknown, { profile, limits }: Terms): boolean {
  if (typeof id === "string")
    return new TextEncoder().encode(JSON.stringify(id)).length <= limits.idBytes + '""'.length;
  if (typeof id === "number") return profile.looseIds || Number.isInteger(id);
  return id === null && profile.looseIds;
}

function isStructured(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

function isObject(value: unknown): value is Members {
  return isStructured(value) && !Array.isArray(value);
}

function has(message: Members, member: string): boolean {
  return Object.hasOwn(message, member);
}
