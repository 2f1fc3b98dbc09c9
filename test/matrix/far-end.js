// The remote end of transports that lead out of the process, or of the thread: a server of its own for each channel. It tells
// whoever started it where it listens and, of each conversation that is over, what it has left behind.
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Duplex } from "node:stream";
import { parentPort } from "node:worker_threads";
import { describeReport, messagePortChannel, webStreamChannel } from "@parlance/mcp/jsonrpc";
import { acceptTcp } from "@parlance/mcp/node";
import { serveChannel } from "@parlance/mcp/server";
import { matrixServer } from "./server.js";

const tell = (message) => (parentPort === null ? process.send(message) : parentPort.postMessage(message));

function serve(channel) {
  const server = matrixServer();
  const reports = [];
  const report = (each) => each.kind === "invalid" || reports.push(describeReport(each)); // The peer has heard of that.
  const connection = serveChannel(server, channel, { report });
  void connection.closed.then(({ reason }) => {
    tell({ ended: { reason, inFlight: connection.inFlight, listeners: server.changes.size, reports } });
  });
  return connection;
}

async function listen() {
  const [tcp, unix] = await Promise.all([
    acceptTcp({ port: 0 }, serve),
    acceptTcp({ path: join(tmpdir(), `matrix-${process.pid}.sock`) }, serve),
  ]);
  // As web streams have it, a stream of Node ends when both of its directions have.
  const web = createServer((socket) => serve(webStreamChannel(Duplex.toWeb(socket))));
  await new Promise((resolve) => web.listen(0, "127.0.0.1", resolve));
  tell({ listening: { tcp: tcp.address, unix: unix.address, webStreams: { port: web.address().port } } });
  process.once("disconnect", () => void Promise.all([tcp.close(), unix.close(), web.close()]));
}

if (parentPort === null) await listen();
else parentPort.on("message", (port) => serve(messagePortChannel(port)));
