import { LocalError, openConnection, RpcError, tapChannel } from "@parlance/mcp/jsonrpc";
import { cancellation, way } from "./agreement.js";
import { openChannel } from "./open-channel.js";

// Starts the service, calls all it has to offer, and prints what passes between the two in the notation of the
// specification: `-->` goes to the service, `<--` comes from it. Behind `=` is what the calling code gets to see.

const channel = tapChannel(await openChannel(), (tapped) => {
  if (tapped.kind === "sent") console.log("-->", tapped.frame);
  if (tapped.kind === "received") console.log("<--", tapped.frame);
});
const connection = openConnection(channel, { cancellation });

const scenes = {
  "Params by position": () => connection.call("subtract", [42, 23]),
  "Params by name": () => connection.call("subtract", { subtrahend: 23, minuend: 42 }),
  "As many params as you like": () => connection.call("sum", [1, 2, 4]),
  "No params": () => connection.call("get_data"),

  "Several calls at once": () =>
    Promise.all([
      connection.call("calculator.add", [2, 3]),
      connection.call("calculator.multiply", [2, 3]),
      connection.call("calculator.divide", [2, 4]),
    ]),

  "A notification, which gets no response": () => connection.notify("update", [1, 2, 3, 4, 5]),
  "A notification with an unknown method, which gets no response either": () => connection.notify("foobar"),
  "What came of them": () => connection.call("journal"),

  "A call of something unknown": () => connection.call("foobar"),
  "Params that do not fit": () => connection.call("users.create", { name: "", email: "nowhere" }),
  "An error of the application": () => connection.call("calculator.divide", { a: 1, b: 0 }),

  "Two users": () =>
    Promise.all([
      connection.call("users.create", { name: "Ada", email: "ada@example.com" }),
      connection.call("users.create", ["Grace", "grace@example.com"]),
    ]),
  "One of them": () => connection.call("users.get", { id: 2 }),
  "One is deleted": () => connection.call("users.delete", { id: 1 }),
  "One is left": () => connection.call("users.list"),
  "The other is gone": () => connection.call("users.get", { id: 1 }),

  async "A batch"() {
    const batch = connection.batch();
    batch.request("sum", [1, 2, 4]);
    batch.notify("notify_hello", [7]);
    batch.notify("notify_sum", [1, 2, 4]);
    batch.request("subtract", [42, 23]);
    batch.request("foo.get", { name: "myself" });
    batch.request("get_data");
    const outcomes = await batch.send();
    return [...outcomes.values()].map((outcome) => (outcome.ok ? outcome.result : outcome.error));
  },

  "A call that is cancelled"() {
    const controller = new AbortController();
    const primes = connection.call("calculator.primes", { below: 10_000_000 }, { signal: controller.signal });
    controller.abort(new Error("it takes too long"));
    return primes;
  },
  "The same with less to do": () => connection.call("calculator.primes", { below: 100 }),
};

console.log(`A service whose messages come by ${way}`);
for (const [title, play] of Object.entries(scenes)) {
  console.log(`\n${title}:`);
  console.log("  =", await outcomeOf(play));
}

await connection.close();
const { reason, error } = await connection.closed;
if (reason !== "closed") throw error;

/**
 * The outcome of a call: a result, the error of the service, or the reason why there is neither.
 *
 * @param {() => unknown} play
 */
async function outcomeOf(play) {
  try {
    return JSON.stringify(await play()) ?? "nothing";
  } catch (error) {
    if (error instanceof RpcError) return `RpcError ${error.code}: ${error.message}`;
    if (error instanceof LocalError) return `LocalError ${error.reason}: ${error.message}`;
    throw error;
  }
}
