import { connect } from "node:net";

/** @import { Socket } from "node:net" */

const headEnd = "\r\n\r\n";
const chunksEnd = Buffer.from("0\r\n\r\n");

/**
 * A connection that stays, with one request at a time on it: enough of HTTP/1.1 to find the end of an answer, and so little
 * that it costs next to nothing. One that the server has closed is opened again.
 */
export class HttpConnection {
  #port;
  /** @type {Socket | undefined} */
  #socket;
  /** @type {Buffer | undefined} */
  #received;
  /** @type {(answer: Buffer) => void} */
  #answered = () => undefined;

  /** @param {number} port */
  constructor(port) {
    this.#port = port;
  }

  /**
   * @param {Buffer} request
   * @param {(answer: Buffer) => void} answered hears the whole answer, head and body
   */
  send(request, answered) {
    this.#received = undefined;
    this.#answered = answered;
    this.#socket ??= this.#open();
    this.#socket.write(request);
  }

  #open() {
    const socket = connect(this.#port, "127.0.0.1").setNoDelay(true);
    socket.on("close", () => {
      if (this.#socket === socket) this.#socket = undefined;
    });
    socket.on("data", (chunk) => {
      this.#received = this.#received === undefined ? chunk : Buffer.concat([this.#received, chunk]);
      this.#look(this.#received);
    });
    return socket;
  }

  /** @param {Buffer} received */
  #look(received) {
    const end = received.indexOf(headEnd);
    if (end === -1) return;
    const head = received.toString("latin1", 0, end).toLowerCase();
    const length = /\r\ncontent-length: *(\d+)/.exec(head)?.[1];
    const isWhole =
      length === undefined
        ? !head.includes("\r\ntransfer-encoding: chunked") || received.subarray(-chunksEnd.length).equals(chunksEnd)
        : received.length >= end + headEnd.length + Number(length);
    if (!isWhole) return;
    if (head.includes("\r\nconnection: close")) this.#socket = undefined;
    this.#answered(received);
  }
}

/**
 * One request and its answer, for where nothing is measured.
 * @param {HttpConnection} connection
 * @param {Buffer} request
 * @returns {Promise<{ head: string, body: string }>}
 */
export function exchange(connection, request) {
  return new Promise((resolve) => {
    connection.send(request, (answer) => {
      const end = answer.indexOf(headEnd);
      const head = answer.toString("latin1", 0, end);
      const body = answer.subarray(end + headEnd.length).toString("utf8");
      resolve({ head, body: /transfer-encoding: chunked/i.test(head) ? withoutChunks(body) : body });
    });
  });
}

/** @param {Buffer} answer */
export function isSuccess(answer) {
  return answer.toString("latin1", 9, 10) === "2"; // Behind `HTTP/1.1 `.
}

/**
 * The text of a body in chunks. Nothing here is outside ASCII, so their sizes are characters.
 * @param {string} body
 */
function withoutChunks(body) {
  let text = "";
  for (let at = 0; at < body.length; ) {
    const start = body.indexOf("\r\n", at) + 2;
    const size = Number.parseInt(body.slice(at, start), 16);
    if (size === 0) break;
    text += body.slice(start, start + size);
    at = start + size + 2;
  }
  return text;
}
