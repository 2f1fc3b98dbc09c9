// The parts of the platforms that the programs use. `@cloudflare/workers-types`, `@types/bun` and `@types/deno` declare all of it.

declare const Bun: {
  readonly version: string;
  serve(options: {
    readonly hostname: string;
    readonly port: number;
    readonly idleTimeout: number;
    readonly fetch: (request: Request) => Promise<Response>;
  }): { readonly url: URL; stop(): Promise<void> };
};

declare const Deno: {
  readonly version: { readonly deno: string };
  readonly args: readonly string[];
  execPath(): string;
  serve(
    options: {
      readonly hostname: string;
      readonly port: number;
      readonly onListen: (address: { readonly port: number }) => void;
    },
    handler: (request: Request) => Promise<Response>,
  ): { shutdown(): Promise<void> };
  upgradeWebSocket(
    request: Request,
    options: { readonly protocol: string },
  ): { readonly socket: WebSocket; readonly response: Response };
};

/** Two sockets of a worker that are connected to each other. */
declare const WebSocketPair: new () => Readonly<Record<"0" | "1", WebSocket & { accept(): void }>>;
