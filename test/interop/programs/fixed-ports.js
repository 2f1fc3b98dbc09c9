// Loaded before an example that listens on a fixed port, or asks a server on one: the server listens on any free port and
// prints it, and the client asks the server in SERVER_URL. The terminal that an example wants is a pipe.
import { Server } from "node:net";

const { listen } = Server.prototype;
Server.prototype.listen = function onFreePort(port, ...rest) {
  if (port !== Number(process.env.KEEP_PORT ?? "-1") && typeof port !== "object") {
    this.prependOnceListener("listening", () => console.log(`listening on port ${this.address().port}.`));
    return listen.call(this, 0, ...rest);
  }
  return listen.call(this, port, ...rest);
};

const { SERVER_URL } = process.env;
if (SERVER_URL !== undefined) {
  const { fetch } = globalThis;
  globalThis.fetch = (url, init) =>
    fetch(String(url).replace(/^http:\/\/localhost:\d+/, new URL(SERVER_URL).origin), init);
}

process.stdin.setRawMode ??= () => process.stdin;
