import { checkMembers, type MembersOf, requireFunction, requireString } from "../base/check-members.js";
import { foreignMembers } from "../base/foreign-members.js";
import { isArray, isObject, type JsonObject, kindOf, pointerToken } from "../base/json.js";
import { andThen, type MaybePromise } from "../base/maybe-promise.js";
import type { Call, Exchange } from "../jsonrpc/call.js";
import { faultyParams, methodNotFound, type ParamsFault } from "../jsonrpc/errors.js";
import { atOnce } from "../jsonrpc/hooks.js";
import type { Params } from "../jsonrpc/message.js";
import { type CompiledSchema, compileFor, type InferInput, type InferOutput, type Schema } from "../schema/compile.js";
import { authorLimits } from "../schema/json-schema-validator.js";
import { SchemaError } from "../schema/schema-error.js";
import { checkStandard, isValidating, standardProps } from "../schema/standard-schema.js";

/** The params of a method: their names, in the order of the positional form, or a schema. */
type Described = Schema | readonly string[] | undefined;

/** The params of a handler: the output of the schema, or the type that the author declares. */
type ParamsOf<P, Input> = Input extends readonly string[] | undefined ? P : InferOutput<Input>;

// JSON Schema says nothing to the compiler.
type ResultOf<Output> = Output extends { readonly "~standard": unknown } ? MaybePromise<InferInput<Output>> : unknown;

/**
 * Handler of a service method. With declared names, or an object schema, it receives params by name, also if they were sent by
 * position.
 */
export type Handler<P, Input = undefined, Output = undefined> = (
  params: ParamsOf<P, Input>,
  exchange: Exchange,
) => ResultOf<Output>;

/** Options of a service method; its schemas are checked at each call. */
export interface MethodOptions<P, Input extends Described = undefined, Output extends Schema | undefined = undefined> {
  /**
   * The names of the params, in the order of the positional form; or a schema: any Standard Schema, or
   * JSON Schema. Params that do not fit answer −32602, with the place of each fault in `data.errors`. The positional form of an
   * object has the order of its properties. Default: any params, as they come.
   */
  readonly params?: Input | readonly (keyof P & string)[];
  /**
   * A schema of the result. One that does not fit is a bug of the handler: −32603, and a report that names the method. Default:
   * any.
   */
  readonly result?: Output;
  /**
   * Finds at once what is wrong with the params, after the schema; any fault answers −32602 with `data.errors`. Default: none.
   */
  readonly check?: (params: ParamsOf<P, Input>) => readonly ParamsFault[];
}

const methodMembers: MembersOf<MethodOptions<unknown>> = {
  params: ["any", "parameters", "args", "names", "paramsSchema", "input", "inputSchema", "schema"],
  result: ["any", "returns", "resultSchema", "output", "outputSchema"],
  check: ["function", "validate"],
};

/** Options of a service. */
export interface ServiceOptions {
  /** Whether the error for an unknown method names the available ones. Default: false. */
  readonly disclosesMethods?: boolean;
}

const serviceMembers: MembersOf<ServiceOptions> = { disclosesMethods: ["boolean", "discloseMethods"] };

/** A table of methods that is a Call. */
export interface Service {
  /**
   * Adds a method and returns the service.
   *
   * @example
   * service.method("divide", ({ by }) => 1 / by, { params: z.object({ by: z.number() }), result: z.number() });
   *
   * @throws TypeError for a name that is taken, or reserved because it begins with `rpc.`; SchemaError for a schema that cannot
   * be used
   */
  method<
    P = Params | undefined,
    const Input extends Described = undefined,
    Output extends Schema | undefined = undefined,
  >(name: string, handler: Handler<P, Input, Output>, options?: MethodOptions<P, Input, Output>): Service;
  /** The names, in the order of their addition. */
  readonly names: readonly string[];
  /** Runs a method, or throws −32601. */
  readonly call: Call;
}

type AnyMethodOptions = MethodOptions<unknown, Described, Schema | undefined>;
type Entry = (params: unknown, exchange: Exchange) => unknown;

/**
 * A service of plain JSON-RPC 2.0.
 *
 * @example
 * const service = createService().method("subtract", ({ minuend, subtrahend }) => minuend - subtrahend, {
 *   params: ["minuend", "subtrahend"],
 * });
 */
export function createService(options: ServiceOptions = {}): Service {
  checkMembers("createService", options, serviceMembers);
  const entries = new Map<string, Entry>(); // A Map: `__proto__` and `constructor` are just unknown names.
  const service: Service = {
    method(name, handler, methodOptions = {}) {
      requireString("service.method: the name", name, definesMethod);
      if (name.startsWith("rpc."))
        throw new TypeError(`A method may not be called ${name}: names that begin with rpc. are reserved`);
      if (entries.has(name)) throw new TypeError(`The method ${name} is already defined: choose another name`);
      requireFunction(`The method ${name}`, handler, definesMethod);
      checkMembers(`The method ${name}`, methodOptions, methodMembers);
      // The types are between the options and the handler; what runs is checked.
      entries.set(name, entryOf(name, handler as Entry, methodOptions as AnyMethodOptions));
      return service;
    },
    get names() {
      return [...entries.keys()];
    },
    call(method, params, exchange) {
      const entry = entries.get(method);
      if (entry === undefined) {
        requireString("service.call: the method", method, "write openConnection(channel, { handle: service.call })");
        throw methodNotFound(method, options.disclosesMethods === true ? service.names : undefined);
      }
      return entry(params, exchange);
    },
  };
  return Object.defineProperties(service, Object.getOwnPropertyDescriptors(foreignServiceMembers));
}

const listens =
  "acceptTcp({ port }, (channel) => openConnection(channel, { handle: service.call })) serves TCP, nodeRpcHandler(service.call) HTTP";
const definesMethod = 'service.method("name", (params) => result)';
const addsMethod = "service.method(name, handler, { params, result }) adds a method";

const foreignServiceMembers = foreignMembers("service", {
  listen: listens,
  start: listens,
  http: listens,
  tcp: listens,
  methods: addsMethod,
  addMethod: addsMethod,
  onRequest: addsMethod,
  onNotification: addsMethod,
  notification: addsMethod,
});

function entryOf(name: string, run: Entry, options: AnyMethodOptions): Entry {
  const { params: described, result, check } = options;
  const checkResult = result === undefined ? undefined : resultCheck(name, checkOf(name, result, "output").check);
  const runChecked: Entry = (params, exchange) => {
    const faults = check === undefined ? [] : atOnce("check", () => check(params as never)); // `params` is what the names or the schema have made it.
    if (faults.length > 0) throw faultyParams(...faults);
    const value = run(params, exchange);
    return checkResult === undefined ? value : andThen(value, checkResult);
  };
  if (described === undefined) return check === undefined && checkResult === undefined ? run : runChecked;
  if (isArray(described)) return (params, exchange) => runChecked(byName(name, described, params), exchange);
  return schemaEntry(name, described, runChecked);
}

function schemaEntry(name: string, schema: Schema, run: Entry): Entry {
  const { check, json } = checkOf(name, schema, "input");
  const properties = isObject(json?.properties) ? json.properties : {};
  const names = json?.type === "object" ? Object.keys(properties) : undefined;
  return (params, exchange) =>
    andThen(check(names === undefined ? params : byName(name, names, params)), (checked) => {
      if (!checked.ok) throw faultyParams(...checked.errors);
      return run(checked.value, exchange);
    });
}

type Check = CompiledSchema["check"];

/** A schema that checks values itself need not be one that JSON Schema can describe: nothing here is listed. */
function checkOf(
  name: string,
  schema: Schema,
  side: "input" | "output",
): { readonly check: Check; readonly json?: JsonObject } {
  try {
    return compileFor(`The method ${name}`, schema, { side });
  } catch (error) {
    const standard = standardProps(schema);
    if (!(error instanceof SchemaError) || !isValidating(standard)) throw error;
    return { check: (value) => checkStandard(standard, value, authorLimits.errors) };
  }
}

function resultCheck(name: string, check: Check): (result: unknown) => unknown {
  return (result) =>
    andThen(check(result), (checked) => {
      if (checked.ok) return checked.value;
      const [first] = checked.errors;
      const { path = "", message = "" } = first ?? {};
      throw new TypeError(
        `The result of ${name} does not fit its schema: ${path === "" ? message : `${path}: ${message}`}`,
      );
    });
}

/** Params by name, whichever way they came. Omitted ones are absent. */
function byName(method: string, names: readonly string[], params: unknown): Params {
  if (params === undefined) return {};
  if (isObject(params)) return params;
  const positional = params as readonly unknown[];
  if (positional.length > names.length) {
    throw faultyParams({
      path: `/${names.length}`,
      message: `${method} takes ${names.length} params (${names.join(", ")}), got ${positional.length}`,
    });
  }
  return Object.fromEntries(positional.map((value, index) => [names[index] as string, value]));
}

/**
 * A fault of one param for `MethodOptions.check`: what was expected, and what came.
 *
 * @example
 * const check = ({ a }: { a: number }) => (typeof a === "number" ? [] : [expected("a number", "a", a)]);
 * createService().method("double", ({ a }: { a: number }) => 2 * a, { params: ["a"], check });
 */
export function expected(what: string, name: string | number, value: unknown): ParamsFault {
  return { path: `/${pointerToken(name)}`, message: `expected ${what}, got ${kindOf(value)}` };
}
