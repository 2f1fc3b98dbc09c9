import type { Call, Exchange, Params } from "@parlance/mcp/jsonrpc";

/** One run of a method, which lasts until the test ends it. */
export interface Run {
  readonly method: string;
  readonly params: Params | undefined;
  readonly exchange: Exchange;
  answer(result: unknown): void;
  fail(error: unknown): void;
}

/** A Call whose runs the test ends by hand; only `ping` is answered at once. */
export interface Held {
  readonly call: Call;
  /** The runs in the order of their start. */
  readonly runs: readonly Run[];
  /** The run of `method` that started last. */
  run(method: string): Run;
}

export function held(): Held {
  const runs: Run[] = [];
  return {
    runs,
    call(method, params, exchange) {
      if (method === "ping") return "pong";
      return new Promise((answer, fail) => runs.push({ method, params, exchange, answer, fail }));
    },
    run(method) {
      const run = runs.findLast((each) => each.method === method);
      if (run === undefined) throw new Error(`${method} has not started`);
      return run;
    },
  };
}

/** A request with an id as it is written. */
export function requestText(id: string, method: string): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"${method}"}`;
}

/** The answer to a request that was cancelled, with its id as it is written. */
export function cancelledText(id: string): string {
  return `{"jsonrpc":"2.0","id":${id},"error":{"code":-32800,"message":"Request cancelled"}}`;
}

/** A success with an id and a result as they are written. */
export function successText(id: string, result: string): string {
  return `{"jsonrpc":"2.0","id":${id},"result":${result}}`;
}
