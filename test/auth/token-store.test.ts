import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { memoryTokenStore, type StoredCredentials, type TokenStore } from "@parlance/mcp/auth";
import { fileTokenStore } from "@parlance/mcp/auth-node";
import { expect, onTestFinished, test } from "vitest";

const credentials: StoredCredentials = {
  issuer: "https://login.example",
  resource: "https://mcp.example/mcp",
  tokens: { accessToken: "secret", tokenType: "Bearer", scopes: ["notes"] },
};
const program = join(import.meta.dirname, "../fixtures/token-store-user.js");

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "parlance-tokens-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function newFile(): Promise<string> {
  return join(await newFolder(), "state", "credentials.json");
}

/** Starts a process that uses the store in a file, and resolves when it is ready to begin. */
async function startUser(file: string, times: number) {
  const child = spawn(process.execPath, [program, file, `${times}`], { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  return { child, begin: () => child.stdin.write("\n"), exit: once(child, "exit") };
}

const stores: readonly (readonly [string, () => Promise<TokenStore>])[] = [
  ["memory", async () => memoryTokenStore()],
  ["a file", async () => fileTokenStore(await newFile())],
];

test.each(stores)("%s keeps credentials by their key", async (_, open) => {
  const store = await open();
  expect(await store.get("a")).toBeUndefined();
  await store.set("a", credentials);
  await store.set("b", { ...credentials, issuer: "https://other.example" });
  expect(await store.get("a")).toEqual(credentials);
  await store.delete("a");
  await store.delete("never there");
  expect(await store.get("a")).toBeUndefined();
  expect(await store.get("b")).toMatchObject({ issuer: "https://other.example" });
});

test.each(stores)("%s runs one function at a time for a key, whatever becomes of the one before", async (_, open) => {
  const store = await open();
  const order: string[] = [];
  const run = (name: string, fails = false) =>
    store.exclusive("a", async () => {
      order.push(`${name} begins`);
      await new Promise((resolve) => setImmediate(resolve));
      order.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    });
  const results = await Promise.allSettled([run("1"), run("2", true), run("3")]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(order).toEqual(["1 begins", "1 ends", "2 begins", "2 ends", "3 begins", "3 ends"]);
});

test.each(stores)("%s lets different keys run at the same time", async (_, open) => {
  const store = await open();
  const outer = store.exclusive("a", () => store.exclusive("b", async () => "b has run"));
  expect(await outer).toBe("b has run");
});

test("a file and its folder are for this user alone", async () => {
  const file = await newFile();
  await fileTokenStore(file).set("a", credentials);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await stat(join(file, ".."))).mode & 0o777).toBe(0o700);
  expect(await readdir(join(file, ".."))).toEqual(["credentials.json"]);
});

test("a file that other users can read is refused, with the command that mends it", async () => {
  const file = await newFile();
  const store = fileTokenStore(file);
  await store.set("a", credentials);
  await chmod(file, 0o640);
  await expect(Promise.resolve(store.get("a"))).rejects.toThrow(`chmod 600 ${file}`);
  await expect(Promise.resolve(store.set("b", credentials))).rejects.toThrow(`chmod 600 ${file}`);
  await chmod(file, 0o600);
  expect(await store.get("a")).toEqual(credentials);
});

test.each(["", "{", "[]", '{"version":2}', '{"version":1,"credentials":{"a":{}}}'])(
  "a file with %j is put aside with a warning, and nothing of it is lost",
  async (text) => {
    const file = await newFile();
    const store = fileTokenStore(file);
    await store.set("a", credentials);
    await writeFile(file, text);
    const warned = once(process, "warning");
    expect(await store.get("a")).toBeUndefined();
    const [warning] = await warned;
    expect(String(warning)).toContain(`${file} does not contain tokens; it was renamed to ${file}.corrupt-`);
    const [aside = ""] = await readdir(join(file, ".."));
    expect(await readFile(join(file, "..", aside), "utf8")).toBe(text);
    await store.set("b", credentials);
    expect(await store.get("b")).toEqual(credentials);
  },
);

test("four processes that share a file never overlap, and lose nothing of each other", async () => {
  const file = await newFile();
  const users = await Promise.all([1, 2, 3, 4].map(() => startUser(file, 5)));
  for (const { begin } of users) begin();
  expect(await Promise.all(users.map(({ exit }) => exit))).toEqual([1, 2, 3, 4].map(() => [0, null]));
  const store = fileTokenStore(file);
  expect((await store.get("shared"))?.tokens?.expiresAt).toBe(20);
  const { credentials: all } = JSON.parse(await readFile(file, "utf8"));
  expect(Object.keys(all)).toHaveLength(21);
  expect(await readdir(join(file, ".."))).toEqual(["credentials.json"]);
});

test("the lock of a process that was killed is taken over", async () => {
  const file = await newFile();
  const store = fileTokenStore(file);
  await store.set("a", credentials);
  const holder = await startUser(file, 1);
  holder.child.kill("SIGKILL");
  await holder.exit;
  await writeFile(`${file}.lock`, `${holder.child.pid} ${hostname()} 0\n`);
  await store.set("b", credentials);
  expect(await store.get("b")).toEqual(credentials);
});

test("the lock of another machine is taken over when it has given no sign of life for long", async () => {
  const file = await newFile();
  const store = fileTokenStore(file);
  await store.set("a", credentials);
  await writeFile(`${file}.lock`, "1 another-machine 0\n");
  const longAgo = new Date(Date.now() - 60_000);
  await utimes(`${file}.lock`, longAgo, longAgo);
  await store.set("b", credentials);
  expect(await readdir(join(file, ".."))).toEqual(["credentials.json"]);
});
