import type { ProgressParams } from "@parlance/mcp";
import { type Client, connect } from "@parlance/mcp/client";
import {
  type CallOptions,
  type Connection,
  type ConnectionOptions,
  type Exchange,
  openConnection,
  type Params,
} from "@parlance/mcp/jsonrpc";
import { revisionOf } from "@parlance/mcp/protocol";
import { createServer, type Server, serveChannel } from "@parlance/mcp/server";
import type { Outcome } from "../../packages/mcp/src/jsonrpc/calls/outgoing-call.js";
import type { Profile } from "../../packages/mcp/src/jsonrpc/profile.js";
import { duplexOf } from "../client/duplex.js";
import { turn } from "../properties/conversation/turn.js";
import type { Asking, Manner } from "./asking.js";
import { cancelMethod, type End, progressMethod } from "./end.js";
import type { Driver, Link, Open } from "./link.js";

/** The time that a call has if it says nothing of it. */
export const defaults = { timeout: 1_000, totalTimeout: 3_000, report: (): undefined => undefined } as const;
const limits = { running: 4, waiting: 6 } as const;

interface Arguments {
  readonly nonce: number;
  readonly manner: Manner;
}

/** JSON-RPC alone: either side calls the other. */
export function plainConversation(profile: Profile): Open {
  return async (link) => {
    link.near.connection = openConnection(link.nearCarrier, plainOptions(link, link.near, profile));
    link.far.connection = openConnection(link.farCarrier, plainOptions(link, link.far, profile));
    return {
      bothWays: true,
      farListens: true,
      call: (from, asking) => from.connection.call("work", paramsOf(asking), optionsOf(asking)),
      callTogether: profile.batches
        ? (from, asked) =>
            sendTogether(
              from.connection,
              asked.map((each) => ["work", paramsOf(each), optionsOf(each)]),
            )
        : undefined,
    };
  };
}

function plainOptions(link: Link, end: End, profile: Profile): ConnectionOptions {
  return {
    ...defaults,
    profile,
    limits,
    clock: link.clock,
    cancellation: { method: cancelMethod, idMember: "requestId", error: null },
    relatedTo: (method, params) => (method === progressMethod ? membersOf(params).progressToken : undefined),
    onNotification: () => undefined,
    async handle(_method, params, exchange) {
      const { nonce, manner } = params as unknown as Arguments;
      const progress = (step: number): void => tell(exchange, nonce, step);
      return { nonce: await link.handle(end, { nonce, manner, signal: exchange.signal, progress }) };
    },
  };
}

function tell(exchange: Exchange, nonce: number, progress: number): void {
  exchange.notify(progressMethod, { progressToken: nonce, progress });
}

function paramsOf({ nonce, manner }: Asking): Params {
  return { nonce, manner, _meta: { progressToken: nonce } };
}

function optionsOf({ nonce, signal, timeout, totalTimeout, onProgress }: Asking): CallOptions {
  const notify = (_method: string, params?: Params): void => onProgress?.(membersOf(params).progress);
  return { signal, timeout, totalTimeout, tag: nonce, notify };
}

function membersOf(params: Params | undefined): { readonly progressToken?: number; readonly progress?: number } {
  return (params ?? {}) as { readonly progressToken?: number; readonly progress?: number };
}

async function sendTogether(
  connection: Connection,
  asked: readonly (readonly [method: string, params: Params, options: CallOptions])[],
): Promise<readonly Promise<unknown>[]> {
  const batch = connection.batch();
  const ids = asked.map((each) => batch.request(...each));
  const outcomes = await batch.send();
  return ids.map((id) => promiseOf(outcomes.get(id)));
}

async function promiseOf(outcome: Outcome | undefined): Promise<unknown> {
  if (outcome === undefined) throw new Error("a call of a batch has no outcome");
  if (outcome.ok) return outcome.result;
  throw outcome.error;
}

/** A server with one tool for everything that is called on any of its links, and what opens a conversation with it. */
export interface Served {
  readonly server: Server;
  conversation(version: string): Open;
}

export function createServed(): Served {
  const links = new Map<number, Link>();
  const server = createServer({ name: "simulated", version: "1" });
  server.tool("work", { inputSchema }, async (args, context) => {
    const { nonce, manner } = args as unknown as Arguments;
    const link = links.get(nonce);
    if (link === undefined) throw new Error(`call ${nonce} runs behind the end of its link`);
    const progress = (step: number): void => void context.progress(step);
    return String(await link.handle(link.far, { nonce, manner, signal: context.signal, progress }));
  });
  return { server, conversation: (version) => (link) => converse(server, version, link, links) };
}

const inputSchema = { type: "object", properties: { nonce: { type: "integer" }, manner: { type: "string" } } } as const;

async function converse(server: Server, version: string, link: Link, links: Map<number, Link>): Promise<Driver> {
  const options = { ...defaults, limits, clock: link.clock };
  link.far.connection = serveChannel(server, link.farCarrier, options);
  const client = await connect(link.nearCarrier, { ...options, revision: version });
  const connection = duplexOf(client);
  link.near.connection = connection;
  const mine: number[] = [];
  const known = (nonce: number): void => {
    if (connection.phase === "closed") return; // It will run nowhere, and be forgotten by nobody.
    links.set(nonce, link);
    mine.push(nonce);
  };
  void forgetAtEnd(client, () => {
    for (const nonce of mine) links.delete(nonce);
  });
  return {
    bothWays: revisionOf(version)?.era === "handshake",
    farListens: false,
    call(from, { nonce, manner, onProgress, signal, timeout, totalTimeout }) {
      if (from === link.far) return from.connection.call("ping", { nonce }, { signal, timeout, totalTimeout });
      known(nonce);
      const listener = onProgress && { onProgress: ({ progress }: ProgressParams): void => onProgress(progress) };
      return client.tools.call("work", { nonce, manner }, { signal, timeout, totalTimeout, ...listener });
    },
    callTogether: connection.profile.batches
      ? (_from, asked) => {
          for (const { nonce } of asked) known(nonce);
          return sendTogether(
            connection,
            asked.map((each) => ["tools/call", toolParamsOf(each), optionsOf(each)]),
          );
        }
      : undefined,
  };
}

/** Messages in flight at the end of the conversation may still run. */
async function forgetAtEnd({ closed }: Client, forget: () => void): Promise<void> {
  await closed;
  await turn();
  forget();
}

function toolParamsOf({ nonce, manner }: Asking): Params {
  return { name: "work", arguments: { nonce, manner } };
}
