import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** The status and headers of a response. Names are in lower case; repeated headers are joined. */
export interface Head {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
}

/** An answer that has ended. */
export interface Answer extends Head {
  readonly body: string;
}

/** One event of a stream. */
export interface StreamEvent {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly retry: string | undefined;
  readonly data: string;
}

/** Milliseconds until a test that waits for bytes that never come says so. */
const patience = 60_000;

/**
 * One connection of HTTP/1.1, written by hand: nothing stands between a test and the bytes. Answers are read in the order of
 * their requests, and a byte is read only on demand.
 */
export class Wire implements Disposable {
  readonly socket: Socket;
  readonly #chunks: AsyncIterator<Buffer>;
  #buffer = "";
  #rest: "none" | "chunks" | "close" | number = "none";
  #events = "";

  private constructor(socket: Socket) {
    this.socket = socket;
    this.#chunks = (socket as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  }

  static async open(port: number, host = "127.0.0.1"): Promise<Wire> {
    const socket = connect(port, host);
    // A server may break a connection that still has something to say.
    socket.on("error", () => undefined);
    await once(socket, "connect");
    return new Wire(socket);
  }

  write(bytes: string | Uint8Array): void {
    this.socket.write(bytes);
  }

  /** The head of the next answer; its body is read by `body` or by `event`. */
  async head(): Promise<Head> {
    const [start = "", ...lines] = (await this.#until("\r\n\r\n")).split("\r\n");
    const headers = new Map<string, string>();
    for (const line of lines) {
      const colon = line.indexOf(":");
      const name = line.slice(0, colon).toLowerCase();
      const value = line.slice(colon + 1).trim();
      headers.set(name, headers.has(name) ? `${headers.get(name)}, ${value}` : value);
    }
    const status = Number(start.split(" ")[1]);
    if (status === 100) return this.head();
    this.#events = "";
    this.#rest = restOf(status, headers);
    return { status, headers };
  }

  /** The rest of the body of the response. */
  async body(): Promise<string> {
    let body = this.#events;
    for (let part = await this.#part(); part !== undefined; part = await this.#part()) body += part;
    return Buffer.from(body, "latin1").toString();
  }

  async answer(): Promise<Answer> {
    const head = await this.head();
    return { ...head, body: await this.body() };
  }

  /** Sends a request, and reads its answer. That to a HEAD has no body, whatever its length says. */
  async ask(request: string | Uint8Array): Promise<Answer> {
    this.write(request);
    const head = await this.head();
    const isHead = Buffer.from(request as string).toString("latin1", 0, 5) === "HEAD ";
    return { ...head, body: isHead ? "" : await this.body() };
  }

  /** The next event of a stream; undefined at its end. Comments are passed over. */
  async event(): Promise<StreamEvent | undefined> {
    for (;;) {
      const end = this.#events.indexOf("\n\n");
      if (end === -1) {
        const part = await this.#part();
        if (part === undefined) return undefined;
        this.#events += part;
        continue;
      }
      const lines = Buffer.from(this.#events.slice(0, end), "latin1").toString().split("\n");
      this.#events = this.#events.slice(end + 2);
      if (lines.some((line) => !line.startsWith(":"))) return eventOf(lines);
    }
  }

  /** The messages of a stream up to its end. */
  async messages(): Promise<readonly string[]> {
    const found: string[] = [];
    for (let event = await this.event(); event !== undefined; event = await this.event()) {
      if (event.data !== "") found.push(event.data);
    }
    return found;
  }

  /** The next message of a stream. */
  async message(): Promise<string> {
    for (;;) {
      const event = await this.event();
      if (event === undefined) throw new Error("the stream has ended");
      if (event.data !== "") return event.data;
    }
  }

  /** The bytes as they come, until something has stood in them so many times: for floods, where reading is to cost little. */
  async bytes(count: number, mark: string): Promise<string> {
    let text = this.#buffer;
    let found = 0;
    for (let from = 0; ; ) {
      const at = text.indexOf(mark, from);
      if (at !== -1) {
        found += 1;
        from = at + mark.length;
      } else if (found < count) {
        from = Math.max(from, text.length - mark.length);
        const chunk = await this.#chunk();
        if (chunk === undefined) throw new Error(`the connection has ended behind ${found} of ${count}`);
        text += chunk;
      } else {
        this.#buffer = "";
        return text;
      }
    }
  }

  /** Reads what there is of a body, and forgets it; how many bytes that were. */
  async some(): Promise<number> {
    const bytes = this.#buffer === "" ? await this.#chunk() : this.#buffer;
    if (bytes === undefined) throw new Error("the connection has ended");
    this.#buffer = "";
    return bytes.length;
  }

  /** Resolves when the server has closed the connection; what it still had to say is passed over. */
  async closed(): Promise<void> {
    while ((await this.#chunk()) !== undefined) this.#buffer = "";
  }

  /** Breaks the connection, as a network does. */
  cut(): void {
    this.socket.resetAndDestroy();
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }

  async #part(): Promise<string | undefined> {
    if (this.#rest === "none") return undefined;
    if (this.#rest === "close") return this.#chunk();
    if (this.#rest !== "chunks") {
      const body = await this.#take(this.#rest);
      this.#rest = "none";
      return body;
    }
    const size = Number.parseInt(await this.#until("\r\n"), 16);
    const part = await this.#take(size);
    await this.#until("\r\n");
    if (size > 0) return part;
    this.#rest = "none";
    return undefined;
  }

  async #until(mark: string): Promise<string> {
    let at = this.#buffer.indexOf(mark);
    while (at === -1) {
      await this.#more();
      at = this.#buffer.indexOf(mark);
    }
    const text = this.#buffer.slice(0, at);
    this.#buffer = this.#buffer.slice(at + mark.length);
    return text;
  }

  async #take(bytes: number): Promise<string> {
    while (this.#buffer.length < bytes) await this.#more();
    const text = this.#buffer.slice(0, bytes);
    this.#buffer = this.#buffer.slice(bytes);
    return text;
  }

  async #more(): Promise<void> {
    const chunk = await this.#chunk();
    if (chunk === undefined) throw new Error(`the connection has ended behind ${JSON.stringify(this.#buffer)}`);
    this.#buffer += chunk;
  }

  /** One character for each byte, so that lengths are those of the wire. */
  async #chunk(): Promise<string | undefined> {
    if (this.#buffer !== "" && this.#rest === "close") {
      const text = this.#buffer;
      this.#buffer = "";
      return text;
    }
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error("the server says nothing")), patience);
    });
    try {
      const { done, value } = await Promise.race([this.#chunks.next(), late]);
      return done === true ? undefined : value.toString("latin1");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === undefined) throw error;
      return undefined; // The connection broke.
    } finally {
      clearTimeout(timer);
    }
  }
}

function restOf(status: number, headers: Head["headers"]): "none" | "chunks" | "close" | number {
  if (status === 204 || status === 304) return "none";
  if (headers.get("transfer-encoding") === "chunked") return "chunks";
  const length = headers.get("content-length");
  if (length === undefined) return "close";
  return Number(length) === 0 ? "none" : Number(length);
}

function eventOf(lines: readonly string[]): StreamEvent {
  const field = (name: string): readonly string[] =>
    lines.flatMap((line) => {
      if (!line.startsWith(`${name}:`)) return [];
      const value = line.slice(name.length + 1);
      return [value.startsWith(" ") ? value.slice(1) : value];
    });
  return { id: field("id")[0], event: field("event")[0], retry: field("retry")[0], data: field("data").join("\n") };
}
