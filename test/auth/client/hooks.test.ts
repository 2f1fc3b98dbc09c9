import { memoryTokenStore, oauth, type TokenStore } from "@parlance/mcp/auth";
import { connect } from "@parlance/mcp/client";
import { LocalError } from "@parlance/mcp/jsonrpc";
import { expect, onTestFinished, test } from "vitest";
import { type Mode, Plant } from "../../hardening/attacks/a02-plant.js";
import { approve, startProtectedServer, startSignInServer } from "./protected-server.js";

// A rejection that nothing handles fails the run: vitest reports it.

type Options = Parameters<typeof oauth>[0];

const redirectUrl = "http://127.0.0.1:1/callback";

function storeWith(plant: Plant, method: "get" | "set"): TokenStore {
  const store = memoryTokenStore();
  const run: (...given: never[]) => unknown = store[method];
  return { ...store, [method]: plant.hook(run) };
}

const hooks: readonly (readonly [string, (plant: Plant) => Options])[] = [
  ["authorize", (plant) => ({ redirectUrl, authorize: plant.hook(approve) })],
  ["signIn", (plant) => ({ signIn: plant.hook(async () => ({ redirectUrl, authorize: approve })) })],
  ["fetch", (plant) => ({ redirectUrl, authorize: approve, fetch: plant.hook((url, init) => fetch(url, init)) })],
  ["store.get", (plant) => ({ redirectUrl, authorize: approve, store: storeWith(plant, "get") })],
  ["store.set", (plant) => ({ redirectUrl, authorize: approve, store: storeWith(plant, "set") })],
];

/** Signs in and calls a tool; its result, or the error. */
async function signInWith(options: Options, url: string): Promise<unknown> {
  try {
    await using client = await connect(url, { auth: oauth({ clientName: "hooks", ...options }), reopen: false });
    return await client.tools.call("read");
  } catch (error) {
    return error;
  }
}

async function newServer() {
  const issuer = await startSignInServer();
  onTestFinished(() => issuer[Symbol.asyncDispose]());
  const server = await startProtectedServer(issuer);
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

for (const mode of ["throws", "rejects"] as const satisfies Mode[]) {
  test.each(hooks)(
    `a %s of the application that ${mode} fails the sign-in with an error, whichever call it is`,
    async (_, set) => {
      const server = await newServer();
      const plant = new Plant();
      expect(await signInWith(set(plant), server.url)).toMatchObject({ content: [{ text: "read by ada" }] });
      for (let nth = 1; nth <= plant.calls; nth += 1) {
        const result = await signInWith(set(new Plant(nth, mode)), server.url);
        // Discovery has a second place for most documents, so not every failure is one of the sign-in.
        if (!(result instanceof Error)) expect(result).toMatchObject({ content: [{ text: "read by ada" }] });
        else {
          expect(result).toBeInstanceOf(LocalError);
          expect(result.message).toContain(`call ${nth} was to fail`);
        }
      }
    },
  );

  test(`an onStep that ${mode} is written to the console, and the sign-in goes on`, async () => {
    const written: string[] = [];
    const { error } = console;
    console.error = (line: string) => void written.push(line);
    onTestFinished(() => {
      console.error = error;
    });
    const server = await newServer();
    const onStep = new Plant(1, mode).hook(() => undefined);
    const result = await signInWith({ redirectUrl, authorize: approve, onStep }, server.url);
    expect(result).toMatchObject({ content: [{ text: "read by ada" }] });
    expect(written).toEqual([expect.stringContaining('"onStep" failed: Planted: call 1 was to fail')]);
  });
}
