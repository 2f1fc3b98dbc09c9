import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { OpenReceiver, RedirectReceiver } from "../../auth/client/authorization-code.js";
import { checkMembers, type MembersOf } from "../../base/check-members.js";
import type { MaybePromise } from "../../base/maybe-promise.js";
import { codeOf } from "./file-lock.js";

/** Options of `browserSignIn`. */
export interface BrowserSignInOptions {
  /** The port of the redirect, for a client that is registered with one. Default: that of the registration, or a free one. */
  readonly port?: number;
  /** Milliseconds that the user has. Default: 300000. */
  readonly timeout?: number;
  /** Opens the page at which the user signs in. Default: the system's browser, and the URL on stderr. */
  readonly open?: (url: URL) => MaybePromise<void>;
}

const members: MembersOf<BrowserSignInOptions> = {
  port: ["number"],
  timeout: ["number", "timeoutMs"],
  open: ["function", "browser", "openBrowser"],
};

/** Milliseconds that a user has to sign in. */
const longestSignIn = 300_000;

/** The only address that no other machine on the network can listen on or connect to. RFC 8252 prefers it to `localhost`. */
const host = "127.0.0.1";

/** The path of the redirect. */
const path = "/callback";

/**
 * Signs a user in with the browser of this machine: opens the page of the authorization server, and receives the redirect on a port of
 * 127.0.0.1. For the option `signIn` of `oauth`.
 * https://www.rfc-editor.org/rfc/rfc8252#section-7.3
 *
 * @example
 * const auth = oauth({ clientName: "Notes", signIn: browserSignIn(), store: fileTokenStore() });
 * const client = await connect("https://mcp.example.com/mcp", { auth });
 */
export function browserSignIn(options: BrowserSignInOptions = {}): OpenReceiver {
  checkMembers("browserSignIn", options, members);
  const { port, timeout = longestSignIn, open = openBrowser } = options;
  return async (registered) => {
    const server = createServer();
    await listenOn(server, port === undefined ? portOf(registered) : port, port === undefined);
    return new LoopbackReceiver(server, timeout, open);
  };
}

/** The port of an earlier registration, so that it serves again. */
function portOf(registered: readonly string[]): number {
  const url = registered
    .map((each) => new URL(each))
    .find(({ hostname, pathname }) => hostname === host && pathname === path);
  return Number(url?.port ?? 0);
}

async function listenOn(server: Server, port: number, mayDiffer: boolean): Promise<void> {
  try {
    server.listen(port, host);
    await once(server, "listening");
  } catch (error) {
    if (codeOf(error) !== "EADDRINUSE" || !mayDiffer) throw error;
    server.listen(0, host);
    await once(server, "listening");
  }
}

class LoopbackReceiver implements RedirectReceiver {
  readonly redirectUrl: string;
  readonly #server: Server;
  readonly #timeout: number;
  readonly #open: (url: URL) => MaybePromise<void>;

  constructor(server: Server, timeout: number, open: (url: URL) => MaybePromise<void>) {
    const { port } = server.address() as AddressInfo;
    this.redirectUrl = `http://${host}:${port}${path}`;
    this.#server = server;
    this.#timeout = timeout;
    this.#open = open;
  }

  async authorize(url: URL): Promise<URL> {
    const state = url.searchParams.get("state");
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise<URL>((resolve, reject) => {
        this.#server.on("request", (request, response) => {
          const redirect = this.#redirectOf(request, state);
          answer(response, redirect);
          if (redirect !== undefined) resolve(redirect);
        });
        const late = `the sign-in was not finished within ${this.#timeout / 1_000} s: start again, and finish at ${url.origin}`;
        timer = setTimeout(() => reject(new Error(late)), this.#timeout);
        Promise.resolve(this.#open(url)).catch(reject);
      });
    } finally {
      clearTimeout(timer);
    }
  }

  /** Another page of the browser could send any request: it does not know the state, and does not set the host. */
  #redirectOf({ method, url = "", headers }: IncomingMessage, state: string | null): URL | undefined {
    const { host: expected } = new URL(this.redirectUrl);
    if (method !== "GET" || headers.host !== expected || !URL.canParse(url, this.redirectUrl)) return undefined;
    const redirect = new URL(url, this.redirectUrl);
    const isOurs = redirect.host === expected && redirect.pathname === path;
    return isOurs && redirect.searchParams.get("state") === state ? redirect : undefined;
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }
}

/** Nothing of the request is in the page: it comes from the network. */
function answer(response: ServerResponse, redirect: URL | undefined): void {
  const isGranted = redirect?.searchParams.has("code") === true;
  const text = isGranted ? "You are signed in" : "You are not signed in";
  response.writeHead(redirect === undefined ? 404 : 200, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    connection: "close",
  });
  response.end(redirect === undefined ? "" : page(text));
}

function page(text: string): string {
  return `<!doctype html>
<html lang="en">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${text}</title>
<style>body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 30rem; margin: 20vh auto; padding: 0 1rem }</style>
<h1>${text}</h1>
<p>You can close this window and return to the program that opened it.
</html>
`;
}

/** Opens a URL in the system's browser, without a shell. Prints it too: a machine may have no browser. */
function openBrowser(url: URL): void {
  process.stderr.write(`To sign in, open:\n\n  ${url.href}\n\n`);
  const [command, ...args] = browserCommand();
  spawn(command, [...args, url.href], { stdio: "ignore", detached: true })
    // The URL is printed.
    .on("error", () => undefined)
    .unref();
}

function browserCommand(): readonly [string, ...string[]] {
  if (process.platform === "darwin") return ["open"];
  return process.platform === "win32" ? ["rundll32", "url.dll,FileProtocolHandler"] : ["xdg-open"];
}
