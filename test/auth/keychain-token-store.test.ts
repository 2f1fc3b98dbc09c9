import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { keychainTokenStore } from "@parlance/mcp/auth-node";
import { describe, expect, onTestFinished, test } from "vitest";

const fixtures = join(import.meta.dirname, "../fixtures");

type Environment = Readonly<Record<string, string>>;

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "parlance-keychain-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** Runs a program to its end, with nothing of the desktop of this machine; its output. */
async function run(environment: Environment, program: string, ...args: readonly string[]) {
  const { DBUS_SESSION_BUS_ADDRESS: _bus, XDG_RUNTIME_DIR: _runtime, ...inherited } = process.env;
  const options = args.filter((arg) => arg.startsWith("--"));
  const others = args.filter((arg) => !arg.startsWith("--"));
  const child = spawn(process.execPath, [...options, join(fixtures, program), ...others], {
    env: { ...inherited, ...environment },
    stdio: ["pipe", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  child.stdin.end("\n");
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  return { out, err, code: child.exitCode };
}

async function used(environment: Environment, file: string, action: "keep" | "show", ...options: readonly string[]) {
  const { out, err } = await run(environment, "keychain-user.js", ...options, file, action);
  return { said: JSON.parse(out || "null") as unknown, err };
}

/** A session of a desktop with an unlocked keychain of its own; the environment of its programs. */
async function startKeychain(): Promise<Environment> {
  const folder = await newFolder();
  const own = { HOME: folder, XDG_DATA_HOME: join(folder, "data"), XDG_RUNTIME_DIR: join(folder, "run") };
  await mkdir(own.XDG_RUNTIME_DIR, { mode: 0o700 });
  const bus = spawn("dbus-daemon", ["--session", "--nofork", "--print-address=1"], {
    env: { ...process.env, ...own },
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(() => void bus.kill("SIGKILL"));
  const [address] = (await once(bus.stdout, "data")) as [Buffer];
  const environment = { ...own, DBUS_SESSION_BUS_ADDRESS: String(address).trim() };
  // It ends with its bus. The first process returns when the keychain is unlocked.
  const keychain = spawn("gnome-keyring-daemon", ["--unlock", "--components=secrets"], {
    env: { ...process.env, ...environment },
    stdio: ["pipe", "ignore", "ignore"],
  });
  keychain.stdin.end("a password");
  await once(keychain, "exit");
  return environment;
}

const kept = {
  a: {
    issuer: "https://a.example",
    resource: "https://b.example/mcp",
    tokens: { accessToken: "token-CANARY", tokenType: "Bearer", scopes: ["notes"] },
  },
};

const commands = ["dbus-daemon", "gnome-keyring-daemon"];
const hasKeychain = commands.every((command) => spawnSync(command, ["--version"]).error === undefined);

describe.runIf(hasKeychain)("a keychain (needs dbus-daemon and gnome-keyring-daemon)", () => {
  test("tokens are kept for other processes, and are not in the file in the clear", async () => {
    const environment = await startKeychain();
    const folder = await newFolder();
    const file = join(folder, "tokens.json");
    expect((await used(environment, file, "show")).said).toEqual({});
    expect((await used(environment, file, "keep")).said).toEqual(kept);
    expect((await used(environment, file, "show")).said).toEqual(kept);
    const content = await readFile(file, "utf8");
    expect(content).not.toMatch(/CANARY|example|notes/);
    expect(JSON.parse(content)).toEqual({ version: 1, encrypted: expect.stringMatching(/^eyJ[\w-]+\.\.[\w.-]+$/) });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual(["tokens.json"]);
  });

  test("four processes that create one key together never overlap, and lose nothing of each other", async () => {
    const environment = await startKeychain();
    const file = join(await newFolder(), "tokens.json");
    const counting = [1, 2, 3, 4].map(() => run(environment, "token-store-user.js", file, "3", "keychain"));
    // A process that waits for long, as on a busy machine, says for which other one.
    const ended = (await Promise.all(counting)).map(({ code, err }) => [
      code,
      err.replaceAll(/^Waiting for process .*\n/gm, ""),
    ]);
    expect(ended).toEqual(Array(4).fill([0, ""]));
    const { said } = await used(environment, file, "show");
    expect(said).toMatchObject({ shared: { tokens: { expiresAt: 12 } } });
    expect(Object.keys(said ?? {})).toHaveLength(13);
  });

  test("a file whose key is gone is put aside with a warning, and the user signs in again", async () => {
    const folder = await newFolder();
    const file = join(folder, "tokens.json");
    expect((await used(await startKeychain(), file, "keep")).said).toEqual(kept);
    const content = await readFile(file, "utf8");
    const another = await startKeychain();
    const { said, err } = await used(another, file, "show");
    expect(said).toEqual({});
    expect(err).toContain(`${file} does not contain tokens; it was renamed to ${file}.corrupt-`);
    const [aside = ""] = await readdir(folder);
    expect(await readFile(join(folder, aside), "utf8")).toBe(content);
    expect((await used(another, file, "keep")).said).toEqual(kept);
  });
});

test.runIf(process.platform === "linux")("without a Secret Service, the error says what to start", async () => {
  const folder = await newFolder();
  const nowhere = { DBUS_SESSION_BUS_ADDRESS: `unix:path=${join(folder, "no-bus")}` };
  const { said } = await used(nowhere, join(folder, "tokens.json"), "keep");
  expect(said).toMatchObject({
    name: "KeychainUnavailable",
    message: expect.stringMatching(
      /^keychainTokenStore: the keychain cannot be used \(.+\): unlock it, start a Secret Service.+or use fileTokenStore\(\)$/,
    ),
  });
  expect(await readdir(folder)).toEqual([]);
});

test("without the package, the error says how to install it", async () => {
  const file = join(await newFolder(), "tokens.json");
  const hook = `export async function resolve(name, context, next) {
    if (name === "@napi-rs/keyring") throw new Error("not installed");
    return next(name, context);
  }`;
  const loader = `import { register } from "node:module"; register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hook)}`)});`;
  const { said } = await used({}, file, "keep", `--import=data:text/javascript,${encodeURIComponent(loader)}`);
  expect(said).toMatchObject({
    message: "keychainTokenStore: it needs the package @napi-rs/keyring: npm install @napi-rs/keyring",
  });
});

test("an unknown option is refused", () => {
  expect(() => keychainTokenStore({ file: "tokens.json" } as never)).toThrow(/file.*path/);
});
