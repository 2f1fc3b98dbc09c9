import type { Driver, Fields, Outcome } from "./driver.js";

/** Something that every server does for every client, in every revision and over every transport. */
export interface Behaviour {
  /** A sentence. */
  readonly name: string;
  /** The peer declares nothing that it can be asked. Default: everything. */
  readonly bare?: boolean;
  /** The peer says what no schema has: our client too, when it is told to. Default: it is sound. */
  readonly unsound?: boolean;
  run(driver: Driver): Promise<void>;
}

/** The facts that the driver and its server share: with a bridge between them, those of the older revision. */
export function older({ revision, far = revision }: Pick<Driver, "revision" | "far">): string {
  return far < revision ? far : revision;
}

/** The result of a call. @throws Error for a call that has failed */
function resultOf(outcome: Outcome): Fields {
  if ("result" in outcome) return outcome.result;
  throw new Error(`no result, but ${JSON.stringify(outcome)}`);
}

/** The result of a request. */
export async function ask(driver: Driver, method: string, params: Fields = {}): Promise<Fields> {
  return resultOf(await driver.call(method, params));
}

/** The result of a tool. */
export async function callTool(driver: Driver, name: string, args: Fields = {}): Promise<Fields> {
  return ask(driver, "tools/call", { name, arguments: args });
}

/** The one text of a tool's result. */
export async function textOf(driver: Driver, name: string, args: Fields = {}): Promise<string> {
  const { content } = await callTool(driver, name, args);
  const [block] = content as readonly { readonly text?: string }[];
  return block?.text ?? "";
}

/** The one text of a tool's result, as JSON. */
export async function jsonOf(driver: Driver, name: string): Promise<Fields> {
  return JSON.parse(await textOf(driver, name)) as Fields;
}

/** An error of a code, and the places in the params that it names. */
export function refusal(code: number, ...paths: readonly string[]): Fields {
  const data = paths.length === 0 ? {} : { data: { errors: paths.map((path) => ({ path })) } };
  return { error: { code, ...data } };
}
