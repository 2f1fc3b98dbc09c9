import { type Connection, openConnection, webSocketChannel } from "@parlance/mcp/jsonrpc";
import { signal } from "@preact/signals";
import { type PageMethods, type PageNotifications, pageProtocol, tokenPrefix } from "./protocol.js";

/** The key of the token in the session storage, which keeps it for a reload of this tab. */
const tokenKey = "parlance-token";

/** The token of the address, which is taken out of it, or of an earlier load. What the page is to show may follow it. */
function takeToken(): string | null {
  const [, token, shows] = /^#token=([\w-]+)(?:&(.*))?$/.exec(location.hash) ?? [];
  if (token === undefined) return sessionStorage.getItem(tokenKey);
  sessionStorage.setItem(tokenKey, token);
  history.replaceState(null, "", shows === undefined ? location.pathname : `#${shows}`);
  return token;
}

/** The state of the connection to the command. */
export type Link = "connecting" | "open" | "no token" | "lost";

/**
 * The maximum size of a message of the command, in bytes: the 16 MiB that a recording keeps of a frame, in base64, with facts
 * about it.
 */
const frameBytes = 32 * 1024 * 1024;

/** The connection to the command. */
export const link = signal<Link>("connecting");

/** Milliseconds between attempts to reconnect. */
const pause = 1_000;

let connection: Connection | undefined;

/** The listeners for notifications of the command. */
type Listeners = { readonly [Name in keyof PageNotifications]: (params: PageNotifications[Name]) => void };

/** Connects, and reconnects whenever the connection is lost. */
export function connect(onOpen: () => void, listeners: Listeners): void {
  const token = takeToken();
  if (token === null) {
    link.value = "no token";
    return;
  }
  const socket = new WebSocket(new URL("/connection", location.href.replace(/^http/, "ws")), [
    pageProtocol,
    tokenPrefix + token,
  ]);
  const opened = openConnection(webSocketChannel(socket, { frameBytes }), {
    limits: { frameBytes },
    exactNumbers: true,
    handle: (method, params) => {
      // The peer is always the command, in the same version.
      if (method === "changed") listeners.changed(params as unknown as PageNotifications["changed"]);
      if (method === "acted") listeners.acted(params as unknown as PageNotifications["acted"]);
      if (method === "intercepted") listeners.intercepted(params as unknown as PageNotifications["intercepted"]);
    },
  });
  socket.addEventListener("open", () => {
    connection = opened;
    link.value = "open";
    onOpen();
  });
  void opened.closed.then(() => {
    connection = undefined;
    link.value = "lost";
    setTimeout(() => connect(onOpen, listeners), pause);
  });
}

/** Calls the command. Rejects without a connection. */
export async function call<Name extends keyof PageMethods>(
  method: Name,
  params: Parameters<PageMethods[Name]>[0],
): Promise<ReturnType<PageMethods[Name]>> {
  if (connection === undefined) throw new Error("the command that serves this page has ended");
  return (await connection.call(method, params)) as ReturnType<PageMethods[Name]>; // The command has the same version.
}

/** Calls the command. Resolves to undefined if that fails: the page shows the state of the connection elsewhere. */
export function tryCall<Name extends keyof PageMethods>(
  method: Name,
  params: Parameters<PageMethods[Name]>[0],
): Promise<ReturnType<PageMethods[Name]> | undefined> {
  return call(method, params).catch(() => undefined);
}

/** Why a call has failed, in words. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
