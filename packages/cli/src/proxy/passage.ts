import type { ClientRequest, IncomingMessage, RequestOptions, ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import { forward } from "../forward.js";
import type { Recorder } from "../recorder/recorder.js";
import { endpointRewriter } from "./endpoint-rewriter.js";
import { ExchangeRecord } from "./exchange-record.js";
import { endToEnd, flattened, type HeaderList, headersOf, headerValue, pairsOf, withLength } from "./headers.js";
import { isDiscovery, isForm, type Origins, renamed, towardsClient, towardsServer } from "./origins.js";
import { refuse } from "./refuse.js";
import type { SessionNames } from "./sessions.js";

/** What a passage needs of the proxy that it goes through. */
export interface PassageOptions {
  /** The number of the exchange. */
  readonly x: number;
  readonly target: URL;
  readonly origins: Origins;
  readonly hasMessages: boolean;
  readonly recorder: Recorder;
  readonly sessions: SessionNames;
  /** All of it is written down. */
  readonly onWritten: () => void;
  readonly send: (options: RequestOptions) => ClientRequest;
}

/** Bytes of a form, or of a document, in which names are changed. */
const mostRenamed = 1024 * 1024;

/** One request on its way to the server, and its response on the way back. Each chunk goes on as it comes. */
export class Passage {
  readonly #near: IncomingMessage;
  readonly #answer: ServerResponse;
  readonly #options: PassageOptions;
  readonly #record: ExchangeRecord;
  readonly #url: string;
  #isOver = false;

  constructor(near: IncomingMessage, answer: ServerResponse, options: PassageOptions) {
    this.#near = near;
    this.#answer = answer;
    this.#options = options;
    const { method = "GET", url = "/" } = near;
    const { recorder, sessions, x, hasMessages, target, onWritten } = options;
    this.#url = url;
    const headers = headersOf(near);
    this.#record = new ExchangeRecord({ x, method, url, headers, hasMessages, target, onWritten }, recorder, sessions);
    void this.#open(method, headers).catch((error: unknown) => this.#fail(error));
  }

  async #open(method: string, headers: HeaderList): Promise<void> {
    const { target, origins, send } = this.#options;
    const form = isForm(headers) ? await renamedBody(this.#near, origins.near, origins.far) : undefined;
    const passed = endToEnd(towardsServer(headers, origins));
    const far = send({
      protocol: target.protocol,
      hostname: target.hostname.replaceAll(/[[\]]/g, ""),
      port: target.port,
      method,
      path: renamed(this.#url, origins.near, origins.far),
      headers: flattened(form === undefined ? this.#readable(passed) : withLength(passed, form.length)),
      setHost: false,
    });
    far.on("continue", () => this.#answer.writeContinue());
    far.on("response", (response) => void this.#respond(response).catch((error: unknown) => this.#fail(error)));
    far.on("error", (error) => this.#fail(error));
    this.#answer.on("close", () => {
      if (this.#answer.writableFinished) return;
      this.#abort("the client has gone away");
      far.destroy();
    });
    if (form !== undefined) {
      far.end(form);
      this.#record.requestEnd();
      return;
    }
    // The head goes out before the body: who waits for the word to go on sends none before.
    far.flushHeaders();
    forward(this.#near, far, {
      chunk: (bytes) => this.#record.requestBytes(bytes),
      ended: () => this.#record.requestEnd(),
    });
  }

  /** A document in which names will be changed must not come compressed. */
  #readable(headers: HeaderList): HeaderList {
    return isDiscovery(this.#url) ? headers.filter(([name]) => name.toLowerCase() !== "accept-encoding") : headers;
  }

  async #respond(response: IncomingMessage): Promise<void> {
    const { statusCode = 502, statusMessage = "" } = response;
    const { origins } = this.#options;
    const headers = headersOf(response);
    const passed = endToEnd(towardsClient(headers, origins));
    response.on("error", (error) => this.#fail(error));
    this.#record.responseHead(statusCode, headers);
    const document = isDiscovery(this.#url) ? await renamedBody(response, origins.far, origins.near) : undefined;
    this.#answer.sendDate = false;
    const sent = document === undefined ? passed : withLength(passed, document.length);
    this.#answer.writeHead(statusCode, statusMessage, flattened(sent));
    this.#answer.flushHeaders();
    if (document === undefined) this.#forwardResponse(response, headers);
    else {
      this.#answer.end(document);
      this.#end();
    }
  }

  #forwardResponse(response: IncomingMessage, headers: HeaderList): void {
    const { hasMessages, origins } = this.#options;
    const mayNameEndpoint =
      hasMessages &&
      this.#near.method === "GET" &&
      /^text\/event-stream\b/i.test(headerValue(headers, "content-type") ?? "") &&
      headerValue(headers, "content-encoding") === undefined;
    const chunk = (bytes: Uint8Array): void => this.#record.responseBytes(bytes);
    // Before what is behind the last byte is written: the end of the answer.
    response.on("end", () => this.#answer.addTrailers(pairsOf(response.rawTrailers)));
    const events = { chunk, ended: () => this.#end() };
    forward(response, this.#answer, events, mayNameEndpoint ? endpointRewriter(origins) : undefined);
  }

  #fail(error: unknown): void {
    if (this.#isOver) return;
    const why = reasonOf(error);
    this.#abort(why);
    if (this.#answer.headersSent) this.#answer.destroy();
    else refuse(this.#answer, 502, `${this.#options.target.origin} cannot be reached: ${why}`);
  }

  #abort(why: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#record.abort(why);
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#record.end();
  }
}

/** A whole body with one origin in place of the other. @throws for one that is too long */
async function renamedBody(body: Readable, from: string, to: string): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of body as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > mostRenamed) throw new Error(`a form or document of more than ${mostRenamed} bytes`);
    parts.push(part);
  }
  return Buffer.from(renamed(Buffer.concat(parts).toString(), from, to));
}

/** An error of the network in a few words; of a name with several addresses there are several, and no message. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || String((error as NodeJS.ErrnoException).code ?? error.name);
}
