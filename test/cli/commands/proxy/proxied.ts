import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type RequestOptions, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Entry } from "@parlance/wire";
import type { HttpEntry } from "../../../../packages/wire/src/recording/entry.js";
import { RecordingFolder } from "../../../wire/recording/recording-folder.js";
import { startInForm } from "../../run.js";

/** A server of HTTP, and the command that stands before it. */
export interface Proxied extends AsyncDisposable {
  /** The address of the proxy, and of the server itself, without their paths. */
  readonly near: string;
  readonly far: string;
  /** The file of the recording. */
  readonly recording: string;
  /** Ends the proxy, and gives what it has recorded. */
  recorded(): Promise<readonly Entry[]>;
}

/** Starts a server whose endpoint is `/mcp`, and a proxy before it. */
export async function proxied(listener: RequestListener, flags: readonly string[] = []): Promise<Proxied> {
  const server = createServer(listener).on("checkContinue", listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const far = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const folder = new RecordingFolder();
  const record = join(folder.path, "proxy.parlance.jsonl");
  const args = ["proxy", "--target", `${far}/mcp`, "--listen", "127.0.0.1:0", "--record", record, "--json", ...flags];
  const command = startInForm(args);
  const { url } = JSON.parse(await command.firstLine) as { url: string };
  const end = async (): Promise<void> => {
    command.interrupt();
    await command.ended;
  };
  return {
    near: new URL(url).origin,
    far,
    recording: record,
    async recorded() {
      await end();
      return folder.read().flat();
    },
    async [Symbol.asyncDispose]() {
      await end();
      folder[Symbol.dispose]();
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A response of which all has come. */
export interface Answered {
  readonly status: number | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

/** Sends a request, and waits for all of the response. Rejects where it breaks off. */
export async function ask(
  url: string,
  options: RequestOptions = {},
  body: readonly Uint8Array[] = [],
): Promise<Answered> {
  const sent = request(url, { agent: false, ...options });
  for (const chunk of body) {
    if (!sent.write(chunk)) await once(sent, "drain");
  }
  sent.end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const { statusCode: status, headers, rawHeaders } = response;
  return { status, headers, rawHeaders, body: Buffer.concat(chunks) };
}

/** All of a body. */
export async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** The heads of a recording. */
export function headsOf(entries: readonly Entry[], ph: HttpEntry["ph"]): readonly HttpEntry[] {
  return entries.filter((entry): entry is HttpEntry => entry.k === "h" && entry.ph === ph);
}
