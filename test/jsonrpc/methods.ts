import { createService, RpcError, type Service } from "@parlance/mcp/jsonrpc";

/** The methods of the specification's examples, and the misbehaving ones of the table of small inputs. */
export function createMethods(onNote: (params: unknown) => void = () => undefined): Service {
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  return createService()
    .method("ping", () => "pong")
    .method("echo", (params) => params)
    .method<{ minuend: number; subtrahend: number }>("subtract", ({ minuend, subtrahend }) => minuend - subtrahend, {
      params: ["minuend", "subtrahend"],
    })
    .method<readonly number[]>("sum", (terms) => terms.reduce((sum, term) => sum + term, 0))
    .method("get_data", () => ["hello", 5])
    .method("update", onNote)
    .method("notify_hello", onNote)
    .method("notify_sum", onNote)
    .method("boom", () => {
      throw new Error("secret path");
    })
    .method("reject", () => Promise.reject(new Error("secret path")))
    .method("fraction", () => {
      throw new RpcError(1.5, "no integer");
    })
    .method("nothing", () => undefined)
    .method("bigint", () => 1n)
    .method("cycle", () => cycle);
}
