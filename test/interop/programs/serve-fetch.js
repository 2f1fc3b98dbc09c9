import { createServer } from "node:http";
import { Readable } from "node:stream";

/** Serves a function from web requests to web responses on a free port, and prints where. */
export function serveFetch(handle) {
  const server = createServer(async (request, response) => {
    const body = request.method === "POST" ? { body: Readable.toWeb(request), duplex: "half" } : {};
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    const { url, method, headers } = request;
    const answer = await handle(
      new Request(new URL(url, `http://${headers.host}`), { method, headers, signal: gone.signal, ...body }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.flushHeaders();
    if (answer.body === null) response.end();
    else
      Readable.fromWeb(answer.body)
        .on("error", () => response.destroy())
        .pipe(response);
  });
  server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
}
