import { type Client, type ConnectOptions, connect } from "@parlance/mcp/client";
import { describeReport } from "@parlance/mcp/jsonrpc";
import { assertNoLeaks } from "@parlance/mcp/testing";
import type { PlayedServer } from "./played-server.js";

/** A client, and what it has reported. */
export interface OpenedClient extends AsyncDisposable {
  readonly client: Client;
  readonly reports: readonly string[];
}

/** Connects to a server that a test plays. Ends with the leak check. */
export async function open({ url }: Pick<PlayedServer, "url">, options: ConnectOptions = {}): Promise<OpenedClient> {
  const reports: string[] = [];
  const client = await connect(url, {
    info: { name: "me", version: "1" },
    report: (each) => void reports.push(describeReport(each)),
    ...options,
  });
  return {
    client,
    reports,
    async [Symbol.asyncDispose]() {
      await client.close();
      assertNoLeaks(client.connection);
    },
  };
}

/** The error of a promise. */
export async function errorOf(promise: Promise<unknown>): Promise<Error> {
  try {
    return new Error(`no error, but ${String(await promise)}`);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
