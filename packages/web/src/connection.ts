import { type Connection, openConnection, webSocketChannel } from "@parlance/mcp/jsonrpc";
import { signal } from "@preact/signals";
import { type PageMethods, type PageNotifications, pageProtocol, tokenPrefix } from "./protocol.js";

/** Where the token is kept for a reload: in this tab only. */
const tokenKey = "parlance-token";

/** The token of the address, which is taken out of it, or of an earlier load. What the page is to show may follow it. */
function takeToken(): string | null {
  const [, token, shows] = /^#token=([\w-]+)(?:&(.*))?$/.exec(location.hash) ?? [];
  if (token === undefined) return sessionStorage.getItem(tokenKey);
  sessionStorage.setItem(tokenKey, token);
  history.replaceState(null, "", shows === undefined ? location.pathname : `#${shows}`);
  return token;
}

/** How it stands with the command that serves the page. */
export type Link = "connecting" | "open" | "no token" | "lost";

/** Bytes of the longest message that the command sends: the 16 MiB that a recording keeps of a frame, in base64, and what is said of it. */
const frameBytes = 32 * 1024 * 1024;

/** The connection to the command. */
export const link = signal<Link>("connecting");

/** Milliseconds between two tries to connect again. */
const pause = 1_000;

let connection: Connection | undefined;

/** The receiver of the notifications of the command. */
type Listeners = { readonly [Name in keyof PageNotifications]: (params: PageNotifications[Name]) => void };

/** Connects, and again whenever the connection is lost. */
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
      // Only the command itself is at the other end, and of the same version.
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

/** Calls the command. Rejects while there is no connection. */
export async function call<Name extends keyof PageMethods>(
  method: Name,
  params: Parameters<PageMethods[Name]>[0],
): Promise<ReturnType<PageMethods[Name]>> {
  if (connection === undefined) throw new Error("the command that serves this page has ended");
  return (await connection.call(method, params)) as ReturnType<PageMethods[Name]>; // The command is of the same version.
}
