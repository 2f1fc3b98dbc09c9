// A server on version 2 of the official SDK, on HTTP, for either era: the handshake era is served without sessions. It says on
// stdout where it is; whoever asks for /changed makes it tell of new tools.
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { createNotes } from "./sdk-v2-notes.js";

const handler = createMcpHandler(createNotes);

const server = createServer(async (request, response) => {
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  if (request.url === "/changed") {
    handler.notify.toolsChanged();
    response.end();
    return;
  }
  const hasBody = request.method === "POST";
  const { status, headers, body } = await handler.fetch(
    new Request(new URL(request.url, "http://localhost"), {
      method: request.method,
      headers: request.headers,
      signal: gone.signal,
      ...(hasBody ? { body: Readable.toWeb(request), duplex: "half" } : {}),
    }),
  );
  response.writeHead(status, Object.fromEntries(headers));
  if (body === null) response.end();
  else
    Readable.fromWeb(body)
      .on("error", () => response.destroy())
      .pipe(response);
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
