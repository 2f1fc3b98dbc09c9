import { openConnection, webSocketChannel } from "@parlance/mcp/jsonrpc";
import type { PageInterception, PageMethods } from "@parlance/web/protocol";
import WebSocket from "ws";

type Answer<Name extends keyof PageMethods> = ReturnType<PageMethods[Name]>;

/** The connection of the page without a browser: what a script with the token can do. */
export class PageClient implements AsyncDisposable {
  readonly #socket: WebSocket;
  readonly #connection: ReturnType<typeof openConnection>;
  readonly #watchers = new Set<(state: PageInterception) => void>();

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    // The socket of `ws` has what the channel uses of a browser's.
    this.#connection = openConnection(webSocketChannel(socket as unknown as globalThis.WebSocket), {
      handle: (method, params) => {
        if (method === "intercepted")
          for (const watcher of this.#watchers) watcher(params as unknown as PageInterception);
      },
    });
  }

  /** Connects to the address that the command has printed. */
  static async open(address: string): Promise<PageClient> {
    const { origin, hash } = new URL(address);
    const protocols = ["parlance-page", `parlance-token.${hash.replace("#token=", "")}`];
    const socket = new WebSocket(`${origin.replace(/^http/, "ws")}/connection`, protocols);
    const client = new PageClient(socket);
    await new Promise((resolve, reject) => {
      socket.on("open", resolve);
      socket.on("error", reject);
    });
    return client;
  }

  async call<Name extends keyof PageMethods>(
    method: Name,
    params: Parameters<PageMethods[Name]>[0],
  ): Promise<Answer<Name>> {
    return (await this.#connection.call(method, params)) as Answer<Name>;
  }

  /** The state, as soon as something holds of it. */
  async until(holds: (state: PageInterception) => boolean): Promise<PageInterception> {
    return await new Promise((resolve, reject) => {
      const look = (state: PageInterception | null): void => {
        if (state === null || !holds(state)) return;
        this.#watchers.delete(look);
        resolve(state);
      };
      this.#watchers.add(look);
      this.call("interception", {}).then(look, reject);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.close();
    await this.#connection.closed;
  }
}
