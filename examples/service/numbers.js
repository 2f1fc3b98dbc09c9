import { expected } from "@parlance/mcp/jsonrpc";

/** @import { MethodOptions } from "@parlance/mcp/jsonrpc" */

/**
 * The options of a method whose params are numbers. A caller may give them by position, in the order of their names, or
 * by name; the method receives them by name.
 *
 * @template {string} Name
 * @param {...Name} names
 * @returns {MethodOptions<Record<Name, number>>}
 */
export function numbers(...names) {
  return {
    params: names,
    check: (params) =>
      names.filter((name) => typeof params[name] !== "number").map((name) => expected("a number", name, params[name])),
  };
}
