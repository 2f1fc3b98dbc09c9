import { httpHandler, rpcHandler } from "@parlance/mcp/http";
import {
  createService,
  decode,
  ExactNumber,
  lspCancellation,
  memoryChannels,
  openConnection,
  RpcError,
  serverLimits,
  webStreamChannel,
} from "@parlance/mcp/jsonrpc";
import { createServer } from "@parlance/mcp/server";
import { pair, rawPeer } from "@parlance/mcp/testing";
import { deferred, equal, match, rejects } from "../check.js";

/** @import { Call, ConnectionOptions } from "@parlance/mcp/jsonrpc" */
/** @import { Case } from "../run.js" */

/** @type {readonly Case[]} */
export const jsonRpc = [
  {
    name: "JSON-RPC: params by position and by name",
    run: () =>
      withEnds({ far: { handle: calculator() } }, async ({ near }) => {
        equal(await near.call("subtract", [42, 23]), 19);
        equal(await near.call("subtract", { subtrahend: 23, minuend: 42 }), 19);
      }),
  },
  {
    name: "JSON-RPC: errors keep their code, message and data",
    run: () =>
      withEnds({ far: { handle: calculator() } }, async ({ near }) => {
        await rejects(near.call("fail"), { code: 7, message: "Out of paper", data: { tray: 2 } });
        await rejects(near.call("nothing"), { code: -32_601 });
      }),
  },
  {
    name: "JSON-RPC: an unexpected error is an internal error without details",
    run: () =>
      withEnds({ far: { handle: calculator(), report: () => undefined } }, async ({ near }) => {
        await rejects(near.call("break"), { code: -32_603, message: "Internal error", data: undefined });
      }),
  },
  {
    name: "JSON-RPC: calls in both directions over one connection",
    run: () =>
      withEnds(
        {
          near: { handle: () => "near" },
          far: { handle: async (_method, _params, { callback }) => callback?.("who") },
        },
        async ({ near }) => equal(await near.call("ask"), "near"),
      ),
  },
  {
    name: "JSON-RPC: a batch of calls and notifications",
    run: () =>
      withEnds({ far: { handle: calculator() } }, async ({ near }) => {
        const batch = near.batch();
        const [sum, missing] = [batch.request("subtract", [5, 3]), batch.request("nothing")];
        batch.notify("subtract", [1, 1]);
        const outcomes = await batch.send();
        match(outcomes.get(sum), { ok: true, result: 2 });
        match(outcomes.get(missing), { ok: false, error: { code: -32_601 } });
      }),
  },
  {
    name: "JSON-RPC: cancelling a call aborts its handler",
    run: async () => {
      const controller = new AbortController();
      /** @type {Call} */
      const handle = (_method, _params, { signal }) => {
        const ended = new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
        controller.abort();
        return ended;
      };
      const [near, far] = [{ cancellation: lspCancellation }, { cancellation: lspCancellation, handle }];
      await withEnds({ near, far }, async ({ near }) => {
        await rejects(near.call("wait", [], { signal: controller.signal }), { reason: "cancelled" });
      });
    },
  },
  {
    name: "JSON-RPC: a call that is not answered times out",
    async run() {
      /** @type {ReturnType<typeof deferred<string>>} */
      const work = deferred();
      const report = () => undefined;
      await withEnds({ far: { handle: () => work.promise, report }, near: { report } }, async ({ near, clock }) => {
        const call = near.call("wait", [], { timeout: 1_000 });
        clock.advance(1_001);
        await rejects(call, { reason: "timeout" });
        work.resolve("too late");
      });
    },
  },
  {
    name: "JSON-RPC: malformed frames are answered",
    run: async () => {
      const [left, right] = memoryChannels();
      const connection = openConnection(left, { handle: calculator(), report: () => undefined });
      const peer = rawPeer(right);
      for (const [frame, code] of /** @type {const} */ ([
        ["{", -32_700],
        ['{"jsonrpc":"2.0","id":1,"method":7}', -32_600],
        ["[]", -32_600],
        ["1", -32_600],
        ['{"jsonrpc":"2.0","id":1,"method":"nothing"}', -32_601],
      ])) {
        peer.send(frame);
        match(JSON.parse(await peer.next()), { error: { code } });
      }
      await connection.close();
    },
  },
  {
    name: "JSON-RPC: ids and numbers beyond doubles stay exact",
    async run() {
      const [left, right] = memoryChannels();
      const connection = openConnection(left, { handle: (_method, params) => params, exactNumbers: true });
      const peer = rawPeer(right);
      peer.send('{"jsonrpc":"2.0","id":12345678901234567890,"method":"echo","params":[1e400,0.10,1]}');
      const answer = await peer.next();
      equal(answer.includes('"id":12345678901234567890'), true);
      equal(answer.includes("1e400"), true);
      await connection.close();
      const decoded = decode('{"jsonrpc":"2.0","id":9007199254740993,"method":"x"}');
      equal("id" in decoded && decoded.id instanceof ExactNumber && decoded.id.text, "9007199254740993");
    },
  },
  {
    name: "JSON-RPC: frames beyond a limit are refused before they are parsed",
    run() {
      const deep = `{"jsonrpc":"2.0","id":1,"method":"x","params":${"[".repeat(200)}${"]".repeat(200)}}`;
      match(decode(deep, undefined, { ...serverLimits, depth: 100 }), { ok: false });
      const wide = `{"jsonrpc":"2.0","id":1,"method":"x","params":[${"1,".repeat(999)}1]}`;
      match(decode(wide, undefined, { ...serverLimits, nodes: 500 }), { ok: false });
      match(decode(wide), { method: "x" });
    },
  },
  {
    name: "JSON-RPC: a character that two chunks of bytes share",
    async run() {
      const bytes = new TextEncoder().encode('{"jsonrpc":"2.0","id":1,"method":"echo","params":["🚂"]}\n');
      const [there, back] = [new TransformStream(), new TransformStream()];
      const channel = webStreamChannel({ readable: there.readable, writable: back.writable });
      const connection = openConnection(channel, { handle: (_method, params) => params });
      const writer = there.writable.getWriter();
      for (const byte of bytes) void writer.write(Uint8Array.of(byte));
      const reader = back.readable.getReader();
      const { value } = await reader.read();
      equal(JSON.parse(new TextDecoder().decode(value)), { jsonrpc: "2.0", id: 1, result: ["🚂"] });
      reader.releaseLock();
      void back.readable.cancel();
      await connection.close();
    },
  },
  {
    name: "JSON-RPC: calls that run finish when a connection drains",
    async run() {
      const [left, right] = memoryChannels();
      const started = deferred();
      const work = deferred();
      const handle = () => {
        started.resolve("started");
        return work.promise;
      };
      openConnection(right, { handle });
      const near = openConnection(left);
      const call = near.call("work");
      await started.promise;
      const drained = near.drain(10_000);
      work.resolve("done");
      equal(await call, "done");
      await drained;
      equal(near.phase, "closed");
    },
  },
  {
    name: "JSON-RPC: over HTTP by the fetch handler",
    async run() {
      const handler = rpcHandler(calculator());
      const post = async (/** @type {string} */ body) => {
        const headers = { "content-type": "application/json" };
        const response = await handler(new Request("http://localhost/", { method: "POST", headers, body }));
        return { status: response.status, text: await response.text() };
      };
      const { status, text } = await post('{"jsonrpc":"2.0","id":1,"method":"subtract","params":[3,2]}');
      equal([status, JSON.parse(text)], [200, { jsonrpc: "2.0", id: 1, result: 1 }]);
      match(await post('{"jsonrpc":"2.0","method":"subtract","params":[3,2]}'), { status: 204, text: "" });
      match(await post("{"), { status: 400 });
    },
  },
  {
    name: "HTTP: foreign hosts and origins are refused",
    async run() {
      const handler = httpHandler(createServer({ name: "guarded", version: "1.0.0" }));
      const statusFor = async (/** @type {string} */ url, /** @type {Record<string, string>} */ headers) => {
        const response = await handler(new Request(url, { method: "POST", headers, body: "{}" }));
        await response.text();
        return response.status;
      };
      equal(await statusFor("http://rebound.example.com/mcp", {}), 403);
      equal(await statusFor("http://localhost/mcp", { origin: "https://attacker.example.com" }), 403);
    },
  },
];

function calculator() {
  return createService()
    .method(
      "subtract",
      (/** @type {{ minuend: number, subtrahend: number }} */ params) => params.minuend - params.subtrahend,
      {
        params: ["minuend", "subtrahend"],
      },
    )
    .method("fail", () => {
      throw new RpcError(7, "Out of paper", { tray: 2 });
    })
    .method("break", () => {
      throw new Error("a secret");
    }).call;
}

/**
 * @param {{ near?: ConnectionOptions, far?: ConnectionOptions }} options
 * @param {(ends: ReturnType<typeof pair>) => Promise<void>} work
 */
async function withEnds(options, work) {
  const ends = pair(options);
  await work(ends);
  // The leak check of a pair.
  await ends[Symbol.asyncDispose]();
}
