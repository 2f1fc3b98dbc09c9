import { createServer, type Server } from "@parlance/mcp/server";

/** A server with nothing but a tool that echoes. */
export function echoServer(): Server {
  const server = createServer({ name: "echo", version: "1.0.0" });
  server.tool(
    "echo",
    { inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] } },
    ({ text }) => String(text),
  );
  return server;
}

/** How the tool of `echoServer` is listed. */
export const echoTool = {
  name: "echo",
  inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
} as const;

/** A tool whose calls last until the test ends them. */
export interface Gate {
  readonly server: Server;
  /** Lets the oldest call that waits return a text. */
  open(text: string): void;
  /** How many calls wait. */
  readonly waiting: number;
}

/** A server with a tool `wait`. */
export function gatedServer(): Gate {
  const waiting: ((text: string) => void)[] = [];
  const server = createServer({ name: "gate", version: "1.0.0" });
  server.tool("wait", {}, () => new Promise<string>((resolve) => void waiting.push(resolve)));
  return {
    server,
    open(text) {
      const resolve = waiting.shift();
      if (resolve === undefined) throw new Error("no call waits");
      resolve(text);
    },
    get waiting() {
      return waiting.length;
    },
  };
}
