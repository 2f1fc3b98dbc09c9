import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Command, childChannel } from "@parlance/mcp/node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { converse, failureOf, program, script } from "./conversations.js";

let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "parlance-"));
  await writeFile(join(folder, "plain"), "not a program", { mode: 0o644 });
  await writeFile(join(folder, "orphan"), "#!/no/such/interpreter\n", { mode: 0o755 });
});

afterAll(() => rm(folder, { recursive: true }));

describe("a command that cannot be started fails the call and says why:", () => {
  const reasons: { what: string; command: () => Command; why: string }[] = [
    {
      what: "it does not exist",
      command: () => ({ command: "no-such-command" }),
      why: "no such command: check the name and PATH",
    },
    {
      what: "its file may not be executed",
      command: () => ({ command: join(folder, "plain") }),
      why: "permission denied: check that it is a program",
    },
    {
      what: "it is a folder",
      command: () => ({ command: folder }),
      why: "permission denied: check that it is a program",
    },
    {
      what: "its interpreter does not exist",
      command: () => ({ command: "./orphan", cwd: folder }),
      why: "the interpreter named in its first line does not exist",
    },
    {
      what: "its folder does not exist",
      command: () => ({ ...script("true"), cwd: "/no/such/folder" }),
      why: 'there is no folder "/no/such/folder"',
    },
    {
      what: "its folder is a file",
      command: () => ({ ...script("true"), cwd: join(folder, "plain") }),
      why: "there is no folder",
    },
    {
      what: "its folder is below a file",
      command: () => ({ ...script("true"), cwd: join(folder, "plain", "below") }),
      why: "there is no folder",
    },
    { what: "its folder is no path", command: () => ({ ...script("true"), cwd: "a\0b" }), why: "there is no folder" },
    { what: "its arguments are too long", command: () => script("true", "x".repeat(10_000_000)), why: "spawn E2BIG" },
    {
      what: "an argument holds a zero byte",
      command: () => script("true", "a\0b"),
      why: "must be a string without null bytes",
    },
  ];

  test.each(reasons)("$what", async ({ command, why }) => {
    const { connection, channel } = converse(command());
    const message = await failureOf(connection.call("ping"));
    expect(message).toMatch(/^ping \(id 1\): ".*" could not be started: /);
    expect(message).toContain(why);
    expect(channel.pid).toBeUndefined();
    expect(await connection.closed).toMatchObject({ reason: "failed" });
  });

  test("and it can be closed before anything has happened", async () => {
    await childChannel({ command: "no-such-command" }).close();
  });
});

describe("the environment of a child", () => {
  /** A variable of the child, as JSON. */
  function variable(name: string): Command {
    return program(
      `process.stderr.write(JSON.stringify(process.env[${JSON.stringify(name)}] ?? null)); process.exit(1)`,
    );
  }

  async function seen(command: Command): Promise<string> {
    const { connection, channel } = converse(command);
    await connection.closed;
    return channel.stderr;
  }

  beforeAll(() => {
    process.env.PARLANCE_TEST_SECRET = "hunter2";
  });
  afterAll(() => {
    delete process.env.PARLANCE_TEST_SECRET;
  });

  test("has no secret of this process", async () => {
    expect(await seen(variable("PARLANCE_TEST_SECRET"))).toBe("null");
  });

  test("has PATH and HOME", async () => {
    expect(await seen(variable("PATH"))).toBe(JSON.stringify(process.env.PATH));
    expect(await seen(variable("HOME"))).toBe(JSON.stringify(process.env.HOME));
  });

  test("has what the command gives, also in the place of what it would inherit", async () => {
    expect(await seen({ ...variable("TOKEN"), env: { TOKEN: "given" } })).toBe('"given"');
    expect(await seen({ ...variable("HOME"), env: { HOME: "/elsewhere" } })).toBe('"/elsewhere"');
  });

  test("is that of this process where it is asked for", async () => {
    expect(await seen({ ...variable("PARLANCE_TEST_SECRET"), inheritEnv: "all" })).toBe('"hunter2"');
  });
});
