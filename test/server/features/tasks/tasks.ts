import { createServer, type Server, type ServerOptions, ToolError } from "@parlance/mcp/server";
import { expect } from "vitest";
import * as z from "zod";
import { type Frame, parse, request } from "../../../testing/frames.js";
import { type Talk, talkTo, turn } from "../../../testing/talks.js";

/** The revision that has tasks in its core. */
export const version = "2025-11-25";

/** A task as it stands on the wire. */
export interface TaskOnWire {
  readonly taskId: string;
  readonly status: string;
  readonly statusMessage?: string;
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  readonly ttl: number;
  readonly pollInterval: number;
}

/** A raw peer in a conversation that has tasks. What the server tells of them by itself is kept apart. */
export interface TaskPeer extends AsyncDisposable {
  readonly talk: Talk;
  /** The statuses that were told so far, as `taskId status`. */
  readonly told: readonly string[];
  send(method: string, params?: object): number;
  /** The next frame that does not tell a status. */
  next(): Promise<Frame>;
  ask(method: string, params?: object): Promise<Frame>;
  result(method: string, params?: object): Promise<Readonly<Record<string, unknown>>>;
  errorOf(method: string, params?: object): Promise<NonNullable<Frame["error"]>>;
  /** Calls a tool as a task. */
  start(name: string, more?: object, task?: object): Promise<TaskOnWire>;
  get(taskId: string): Promise<TaskOnWire>;
  cancel(taskId: string): Promise<TaskOnWire>;
}

const everything = { elicitation: { form: {}, url: {} }, roots: {}, sampling: {} };

/** Opens a conversation. It ends with the leak check of a talk. */
export async function taskPeer(server: Server, capabilities: object = everything): Promise<TaskPeer> {
  const talk = talkTo(server);
  const clientInfo = { name: "raw", version: "1" };
  await talk.ask(request(0, "initialize", { protocolVersion: version, capabilities, clientInfo }));
  talk.peer.send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
  const told: string[] = [];
  let lastId = 0;
  const send: TaskPeer["send"] = (method, params) => {
    lastId += 1;
    talk.peer.send(request(lastId, method, params));
    return lastId;
  };
  const next = async (): Promise<Frame> => {
    for (;;) {
      const frame = parse(await talk.peer.next());
      if (frame.method !== "notifications/tasks/status") return frame;
      expect(frame.params).not.toHaveProperty("_meta");
      told.push(`${String(frame.params?.taskId)} ${String(frame.params?.status)}`);
    }
  };
  const ask: TaskPeer["ask"] = (method, params) => {
    send(method, params);
    return next();
  };
  const result: TaskPeer["result"] = async (method, params) => {
    const frame = await ask(method, params);
    if (frame.result === undefined) throw new Error(`no result, but ${JSON.stringify(frame)}`);
    return frame.result;
  };
  return {
    talk,
    told,
    send,
    next,
    ask,
    result,
    async errorOf(method, params) {
      const frame = await ask(method, params);
      if (frame.error === undefined) throw new Error(`no error, but ${JSON.stringify(frame)}`);
      return frame.error;
    },
    async start(name, more = {}, task = {}) {
      const { task: made } = await result("tools/call", { name, task, ...more });
      return made as TaskOnWire;
    },
    get: async (taskId) => (await result("tasks/get", { taskId })) as unknown as TaskOnWire,
    cancel: async (taskId) => (await result("tasks/cancel", { taskId })) as unknown as TaskOnWire,
    async [Symbol.asyncDispose]() {
      await turn();
      await ask("ping"); // What was told of tasks meanwhile is read.
      await talk[Symbol.asyncDispose]();
    },
  };
}

/** A server whose tools wait until the test lets them go. */
export interface Workshop {
  readonly server: Server;
  /** Lets the oldest call of `work` that waits return, or throw. */
  release(how?: string | Error): void;
  /** Calls of `work` that have not ended. */
  readonly waiting: number;
  /** Why calls of `work` were aborted. */
  readonly aborted: readonly string[];
}

/** Made anew for every test. */
export function workshop(options: Partial<ServerOptions> = {}): Workshop {
  const server = createServer({ name: "workshop", version: "1", ...options });
  const waiting: ((how: string | Error) => void)[] = [];
  const aborted: string[] = [];
  const optional = { execution: { taskSupport: "optional" } } as const;
  server.tool("work", optional, (_args, ctx) => {
    ctx.signal.addEventListener("abort", () => aborted.push(String((ctx.signal.reason as Error).message)));
    return new Promise<string>((resolve, reject) => {
      waiting.push((how) => (typeof how === "string" ? resolve(how) : reject(how)));
    });
  });
  server.tool("quick", optional, () => "done");
  server.tool("fails", optional, () => {
    throw new ToolError("out of paper");
  });
  server.tool("chats", optional, (_args, ctx) => {
    void ctx.progress(1, 2);
    ctx.log("info", "half way");
    void ctx.progress(2, 2);
    return "said";
  });
  server.tool("asks", optional, async (_args, ctx) => {
    const { content } = await ctx.elicit("Who?", z.object({ name: z.string() }));
    return `for ${content?.name}`;
  });
  server.tool("required", { execution: { taskSupport: "required" } }, () => "done");
  server.tool("plain", {}, () => "done");
  return {
    server,
    aborted,
    get waiting() {
      return waiting.length;
    },
    release(how = "worked") {
      waiting.shift()?.(how);
    },
  };
}

/** The text of a result. */
export function text({ content }: { readonly content?: unknown }): string {
  return (content as readonly { readonly text: string }[])[0]?.text ?? "";
}

/** The `_meta` that names a task. */
export function related(taskId: string): object {
  return { "io.modelcontextprotocol/related-task": { taskId } };
}
