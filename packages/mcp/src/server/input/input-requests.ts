import { isObject, type JsonObject, kindOf } from "../../base/json.js";
import type { MaybePromise } from "../../base/maybe-promise.js";
import { invalidParamsOf, type ParamsFault } from "../../jsonrpc/errors.js";
import { methods } from "../../protocol/methods.js";
import { samplingFaults } from "../../protocol/sampling-checks.js";
import { withEncodedMessages } from "../../protocol/sendable.js";
import type { Root } from "../../protocol/types/roots.js";
import type { CreateMessageParams, CreateMessageResult } from "../../protocol/types/sampling.js";
import { compile, type InferOutput, type Schema } from "../../schema/compile.js";
import { isRawShape } from "../../schema/raw-shape.js";
import { standardProps } from "../../schema/standard-schema.js";
import { fieldKeywords, formDefaults, requireSendableParams } from "../../session/input-methods.js";
import { type ClientRequest, InputRequired } from "./input-request.js";

/** A typed request for client input. Made by `elicitForm`, `elicitUrl`, `sample` and `listRoots`. */
export interface InputRequestOf<Answer> extends ClientRequest {
  /**
   * @param place JSON pointer to the answer in the params of the call; `""` for one that came as a response
   * @throws RpcError −32602 for an answer that does not fit the question
   */
  read(answer: unknown, place: string): MaybePromise<Answer>;
}

/** Response of the user to a form. */
export type FormResponse<Content> =
  | {
      /** The user submitted the form. */
      readonly action: "accept";
      /** The values, validated by the schema. */
      readonly content: Content;
    }
  | {
      /** The user refused, or dismissed the form. */
      readonly action: "decline" | "cancel";
      readonly content?: undefined;
    };

/** Response of the user to a URL elicitation. */
export type UrlResponse = Readonly<{
  /** The choice of the user: to open the page, to refuse, or to dismiss. */
  action: "accept" | "decline" | "cancel";
}>;

const actions: ReadonlySet<unknown> = new Set(["accept", "decline", "cancel"]);

/**
 * Asks the user to fill in a form: a flat object of strings, numbers, booleans and choices. Never request secrets with a form.
 * https://modelcontextprotocol.io/specification/latest/client/elicitation
 *
 * @example
 * return inputRequired({ age: elicitForm("How old are you?", z.object({ age: z.number() })) });
 *
 * @throws TypeError for a schema that is no form
 */
export function elicitForm<S extends Schema>(message: string, schema: S): InputRequestOf<FormResponse<InferOutput<S>>> {
  if (isObject(message) || schema === undefined) {
    const fault = isObject(message) ? "the message must be a string, got an object" : "the schema is missing";
    throw new TypeError(
      `elicit: ${fault}: write elicit(message, schema), with { type: "object" } for a form without fields`,
    );
  }
  const compiled = compile(schema);
  // A library fills in its own defaults; in JSON Schema they are annotations, and not every client fills them in.
  const defaults = standardProps(schema) === undefined && !isRawShape(schema) ? formDefaults(compiled.json) : {};
  return {
    method: methods.elicit,
    params: elicitation({ mode: "form", message, requestedSchema: formOf(compiled.json) }),
    async read(answer, place) {
      const { action, content = {} } = readAction(answer, place);
      if (action !== "accept") return { action };
      const checked = await compiled.check(isObject(content) ? { ...defaults, ...content } : content);
      if (checked.ok) return { action, content: checked.value as InferOutput<S> };
      throw unfit(
        place,
        checked.errors.map(({ path, message: why }) => ({ path: `/content${path}`, message: why })),
      );
    },
  };
}

/**
 * Asks the user to open a web page, for data that must not pass through the client: a login, a payment.
 *
 * @example
 * return inputRequired({ login: elicitUrl("Log in to continue", "https://example.com/login") });
 *
 * @param elicitationId elicitation id for `ctx.completeElicitation`. Default: a random one
 * @throws TypeError for what is no URL
 */
export function elicitUrl(message: string, url: string | URL, elicitationId?: string): InputRequestOf<UrlResponse> {
  return {
    method: methods.elicit,
    params: elicitation({ mode: "url", message, url: new URL(url).href }),
    ...(elicitationId === undefined ? {} : { elicitationId }),
    read: (answer, place) => ({ action: readAction(answer, place).action }),
  };
}

/**
 * Asks the client's model.
 * https://modelcontextprotocol.io/specification/latest/client/sampling
 *
 * @example
 * const { reply } = await ctx.requestInput({ reply: sample({ messages, maxTokens: 100 }) });
 *
 * @throws TypeError for invalid params, e.g. uses of tools without results, or a choice of tools without tools
 */
export function sample(given: CreateMessageParams): InputRequestOf<CreateMessageResult> {
  const params = withEncodedMessages(given as unknown as JsonObject); // An interface has no index signature.
  const faults = samplingFaults(params).map(({ path, message }) => `${path} ${message}`);
  if (faults.length > 0) throw new TypeError(`${methods.createMessage}: ${faults.join("; ")}`);
  requireSendableParams(methods.createMessage, params);
  return {
    method: methods.createMessage,
    params,
    read(answer, place) {
      const fits = isObject(answer) && typeof answer.role === "string" && typeof answer.model === "string";
      if (fits && isObject(answer.content)) return answer as unknown as CreateMessageResult;
      if (fits && Array.isArray(answer.content)) return answer as unknown as CreateMessageResult;
      throw unfit(place, [{ path: "", message: "must have role, content and model" }]);
    },
  };
}

/** @throws TypeError for params that cannot be sent: a message that is no text, a URL of a strange form */
function elicitation(params: JsonObject): JsonObject {
  requireSendableParams(methods.elicit, params);
  return params;
}

/**
 * Requests the roots of the client.
 *
 * @example
 * const { roots } = await ctx.requestInput({ roots: listRoots() });
 */
export function listRoots(): InputRequestOf<readonly Root[]> {
  return {
    method: methods.listRoots,
    params: {},
    read(answer, place) {
      const list = isObject(answer) ? answer.roots : undefined;
      const fits = Array.isArray(list) && list.every((root) => isObject(root) && typeof root.uri === "string");
      if (fits) return list as readonly Root[];
      throw unfit(place, [{ path: "/roots", message: `must be an array of roots, got ${kindOf(list)}` }]);
    },
  };
}

/**
 * Ends a handler with input requests: the handler runs again with `ctx.inputResponses` and `ctx.requestState`. An alternative to
 * `ctx.requestInput` for handlers that manage their own state.
 *
 * @example
 * server.tool("greet", {}, (_, ctx) => {
 *   const roots = ctx.inputResponses.roots;
 *   return roots === undefined ? inputRequired({ roots: listRoots() }) : "thanks";
 * });
 */
export function inputRequired(questions: Readonly<Record<string, ClientRequest>>, state?: unknown): InputRequired {
  return new InputRequired(questions, state);
}

function readAction(
  answer: unknown,
  place: string,
): { readonly action: UrlResponse["action"]; readonly content?: unknown } {
  if (isObject(answer) && actions.has(answer.action))
    return answer as { action: UrlResponse["action"]; content?: unknown };
  throw unfit(place, [{ path: "/action", message: "must be accept, decline or cancel" }]);
}

function unfit(place: string, faults: readonly ParamsFault[]): Error {
  return invalidParamsOf(
    place === "" ? "The client's response does not fit the request" : "Invalid params",
    faults.map(({ path, message }) => ({ path: `${place}${path}`, message })),
  );
}

const formats: ReadonlySet<unknown> = new Set(["email", "uri", "date", "date-time"]);
const labels = ["type", "title", "description", "default"];

/**
 * The form that a JSON Schema describes: what a client need not understand is left out, and checked when the answer comes.
 * https://modelcontextprotocol.io/specification/latest/client/elicitation#requested-schema
 *
 * @throws TypeError for a schema that is no flat object of simple fields
 */
function formOf(schema: JsonObject): JsonObject {
  const { properties = {}, required = [] } = schema;
  if (schema.type !== "object" || !isObject(properties)) throw new TypeError("A form needs a schema of type object");
  const fields = Object.entries(properties).map(([name, field]): [string, JsonObject] => [name, fieldOf(name, field)]);
  const isFilledIn = ([name, field]: [string, JsonObject]): boolean =>
    Array.isArray(required) && required.includes(name) && field.default === undefined;
  const needed = fields.filter(isFilledIn).map(([name]) => name);
  return {
    type: "object",
    properties: Object.fromEntries(fields),
    ...(needed.length === 0 ? {} : { required: needed }),
  };
}

function fieldOf(name: string, field: unknown): JsonObject {
  const type = isObject(field) && typeof field.type === "string" ? field.type : "";
  const own = Object.hasOwn(fieldKeywords, type) ? fieldKeywords[type] : undefined;
  if (!isObject(field) || own === undefined) throw notAField(name);
  const kept = Object.entries(field).filter(([keyword, value]) =>
    keyword === "format" ? formats.has(value) : labels.includes(keyword) || own.includes(keyword),
  );
  const plain = Object.fromEntries(kept);
  if (type === "array") return { ...plain, items: choicesOf(name, field.items, "anyOf") };
  return type === "string" && isChoice(field) ? { ...plain, ...choicesOf(name, field, "oneOf") } : plain;
}

function isChoice(schema: JsonObject): boolean {
  return schema.enum !== undefined || schema.oneOf !== undefined;
}

/** The choices of a field as the protocol writes them: strings alone, or each with a title. A string without a title is its own. */
function choicesOf(name: string, schema: unknown, member: "oneOf" | "anyOf"): JsonObject {
  if (!isObject(schema)) throw notAField(name);
  const { enum: values, enumNames: names, [member]: choices } = schema;
  const type = member === "oneOf" ? { type: "string" } : {}; // Items say it only where they have no titles.
  if (Array.isArray(values) && values.every((value) => typeof value === "string")) {
    if (!Array.isArray(names)) return { type: "string", enum: values };
    return { ...type, [member]: values.map((value, index) => titled(value, names[index])) };
  }
  if (!Array.isArray(choices) || !choices.every((choice) => isObject(choice) && typeof choice.const === "string")) {
    throw notAField(name);
  }
  return { ...type, [member]: choices.map((choice) => titled(choice.const, choice.title)) };
}

function titled(value: string, title: unknown): JsonObject {
  return { const: value, title: typeof title === "string" ? title : value };
}

function notAField(name: string): TypeError {
  return new TypeError(
    `A form cannot ask for ${name}: its fields are strings, numbers, booleans, or one or several of given strings`,
  );
}
