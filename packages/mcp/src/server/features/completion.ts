import { didYouMean } from "../../base/did-you-mean.js";
import { isObject, type JsonObject, kindOf } from "../../base/json.js";
import { andThen, type MaybePromise } from "../../base/maybe-promise.js";
import { faultyParams, invalidParams, type ParamsFault, wrongKind } from "../../jsonrpc/errors.js";
import type { ServerCapabilities } from "../../protocol/capabilities.js";
import { methods } from "../../protocol/methods.js";
import { shapeFault, unsendable } from "../../protocol/sendable.js";
import type { CompleteResult } from "../../protocol/types/completion.js";
import { Context } from "../context.js";
import { requireScopes } from "../required-scopes.js";
import type { Operation } from "../servable.js";
import type { Feature, MethodCall } from "./feature.js";

/** Values for an argument, best first. More than a hundred are cut, and said to be more. */
export type Completion = CompleteResult["completion"];

/**
 * Completes an argument: all values there are, of which those that begin with what is typed are offered; or a function
 * of what is typed and of the arguments that are settled.
 */
export type Completer =
  | readonly string[]
  | ((
      typed: string,
      settled: Readonly<Record<string, string>>,
      context: Context,
    ) => MaybePromise<readonly string[] | Completion>);

/** Completers by the name of the argument. */
export type Completers<Name extends string = string> = { readonly [Argument in Name]?: Completer };

/** Definitions that have completers. */
export interface CompletionSource {
  /** Whether any definition ever had one. */
  readonly completes: boolean;
  /** Those of a definition; undefined if there is no such definition that the caller sees. */
  completersOf(name: string, operation: Operation): Completed | undefined;
}

/** A definition whose arguments or variables may be completed. */
export interface Completed {
  readonly completers: Completers;
  readonly scopes: readonly string[] | undefined;
}

/** The word of the wire for a kind of reference, and the member that names what is referred to. */
const references = {
  "ref/prompt": { member: "name", word: "prompt" },
  "ref/resource": { member: "uri", word: "resource template" },
} as const;

type ReferenceType = keyof typeof references;

const mostValues = 100;

/**
 * Completion of arguments of prompts and of variables of resource templates.
 * https://modelcontextprotocol.io/specification/latest/server/utilities/completion
 */
export class Completions implements Feature {
  readonly #sources: Readonly<Record<ReferenceType, CompletionSource>>;

  readonly methods: ReadonlyMap<string, MethodCall> = new Map<string, MethodCall>([
    [methods.complete, (params, operation) => this.#complete(params, operation)],
  ]);

  constructor(sources: Readonly<Record<ReferenceType, CompletionSource>>) {
    this.#sources = sources;
  }

  get capabilities(): ServerCapabilities | undefined {
    return Object.values(this.#sources).some(({ completes }) => completes) ? { completions: {} } : undefined;
  }

  #complete(params: JsonObject, operation: Operation): MaybePromise<CompleteResult> {
    const { type, name, argument, typed, settled } = readParams(params);
    const { member, word } = references[type];
    const completed = this.#sources[type].completersOf(name, operation);
    if (completed === undefined) {
      const message = `is not a ${word} of this server`;
      throw invalidParams(`Unknown ${word}: ${name}`, [{ path: `/ref/${member}`, message }]);
    }
    const { completers, scopes } = completed;
    requireScopes(`the ${word} ${name}`, scopes, operation);
    // An argument without a completer, or one that does not exist, has no values: a client may ask for any argument.
    const completer = Object.hasOwn(completers, argument) ? completers[argument] : undefined;
    const given =
      typeof completer === "function"
        ? completer(typed, settled, new Context(operation, params))
        : startingWith(typed, completer ?? []);
    return andThen(given, (values) => completeResult(values, `The completion of ${argument} of ${name}`));
  }
}

function startingWith(typed: string, values: readonly string[]): readonly string[] {
  const start = typed.toLowerCase();
  return values.filter((value) => value.toLowerCase().startsWith(start));
}

/** @throws TypeError for what cannot be sent: a bug of the completer */
function completeResult(given: unknown, what: string): CompleteResult {
  const whole = Array.isArray(given) ? { values: given as readonly unknown[], total: given.length } : given;
  if (!isObject(whole) || !Array.isArray(whole.values)) {
    const message = `must be an array of strings, or an object with one as its values, got ${kindOf(given)}`;
    throw unsendable(what, { path: "", message });
  }
  const values: readonly unknown[] = whole.values;
  const isCut = values.length > mostValues;
  const completion = {
    hasMore: isCut,
    ...whole,
    values: values.slice(0, mostValues),
    ...(isCut ? { hasMore: true } : {}),
  };
  const fault = shapeFault("CompleteResult", { resultType: "complete", completion }, "");
  if (fault !== undefined) throw unsendable(what, fault);
  return { completion: completion as unknown as Completion }; // Checked just above.
}

interface CompleteRequest {
  readonly type: ReferenceType;
  readonly name: string;
  readonly argument: string;
  readonly typed: string;
  readonly settled: Readonly<Record<string, string>>;
}

function readParams({ ref, argument, context }: JsonObject): CompleteRequest {
  const reference = isObject(ref) ? ref : {};
  const { name: argumentName, value: typed } = isObject(argument) ? argument : ({} as JsonObject);
  const settled = isObject(context) ? (context.arguments ?? {}) : {};
  const { type } = reference;
  const known = type === "ref/prompt" || type === "ref/resource" ? type : undefined;
  const member = known === undefined ? "name" : references[known].member;
  const name = reference[member];
  const faults: ParamsFault[] = [];
  if (known === undefined) faults.push({ path: "/ref/type", message: 'must be "ref/prompt" or "ref/resource"' });
  if (typeof name !== "string") faults.push(wrongKind(`/ref/${member}`, "a string", name));
  if (typeof argumentName !== "string") faults.push(wrongKind("/argument/name", "a string", argumentName));
  if (typeof typed !== "string") faults.push(wrongKind("/argument/value", "a string", typed));
  if (!isTexts(settled)) faults.push({ path: "/context/arguments", message: "must be an object of strings" });
  if (faults.length > 0) throw faultyParams(...faults);
  // The faults were looked for just above.
  return { type: known, name, argument: argumentName, typed, settled } as CompleteRequest;
}

function isTexts(value: unknown): value is Readonly<Record<string, string>> {
  return isObject(value) && Object.values(value).every((member) => typeof member === "string");
}

/**
 * The completers of a definition.
 * @throws TypeError for one of an argument that the definition does not have
 */
export function completersFor(completers: Completers | undefined, names: readonly string[], what: string): Completers {
  for (const name of Object.keys(completers ?? {})) {
    if (names.includes(name)) continue;
    const has = names.length === 0 ? "it has no arguments" : `it has ${names.join(", ")}`;
    throw new TypeError(`${what} has no ${JSON.stringify(name)} to complete: ${didYouMean(name, names) ?? has}`);
  }
  return completers ?? {};
}
