import { isObject } from "../../base/json.js";
import type { Params, RpcNotification, RpcRequest } from "../message.js";

/** The correct method for an alias. */
export interface MethodAlias {
  readonly method: string;
  /** Members of params that are called otherwise too, from the loose name to the real one. */
  readonly params?: Readonly<Record<string, string>>;
}

/** Real methods by loose name. */
export type MethodAliases = ReadonlyMap<string, MethodAlias>;

/** The message that was meant. Only incoming ones are looked at: a loose name is never sent. */
export function realNames<M extends RpcRequest | RpcNotification>(message: M, aliases: MethodAliases): M {
  const alias = aliases.get(message.method);
  if (alias === undefined) return message;
  const { params } = message;
  return {
    ...message,
    method: alias.method,
    ...(params === undefined ? {} : { params: renamed(params, alias.params) }),
  };
}

function renamed(params: Params, names: Readonly<Record<string, string>> = {}): Params {
  if (!isObject(params)) return params;
  const members = Object.entries(params).map(([name, value]) => [
    Object.hasOwn(names, name) ? names[name] : name,
    value,
  ]);
  return Object.fromEntries(members) as Params; // Renamed members of an object make an object.
}
