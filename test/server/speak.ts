import { revisionOf } from "@parlance/mcp/protocol";
import type { Server } from "@parlance/mcp/server";
import { expect } from "vitest";
import type { TransportOptions } from "../../packages/mcp/src/session/options.js";
import { type Frame, notification, parse, request, stateless } from "../testing/frames.js";
import { conversationWith, type Talk, talkTo } from "../testing/talks.js";

/** A raw peer that speaks one revision with a server. */
export interface Speaker extends AsyncDisposable {
  readonly talk: Talk;
  /** Writes a request as the era of the revision wants it. */
  send(method: string, params?: object, id?: string | number): void;
  /** Writes one and reads the next frame. */
  ask(method: string, params?: object, id?: string | number): Promise<Frame>;
  /** The next frame. */
  next(): Promise<Frame>;
  /** The result of a request, without what the stateless era puts around every result. */
  result(method: string, params?: object): Promise<Readonly<Record<string, unknown>>>;
  /** The error of a request. */
  error(method: string, params?: object): Promise<NonNullable<Frame["error"]>>;
  /** Takes a request back. */
  cancel(id: string | number): void;
}

/** Ends with the leak checks of a talk, and that the server has nobody left to tell of changes. */
export async function speak(server: Server, version: string, options: TransportOptions = {}): Promise<Speaker> {
  const isStateless = revisionOf(version)?.era === "stateless";
  const talk = isStateless ? talkTo(server, options) : await conversationWith(server, version, options);
  let lastId = 0;
  const send: Speaker["send"] = (method, params, id) => {
    lastId += 1;
    talk.peer.send(isStateless ? stateless(id ?? lastId, method, params) : request(id ?? lastId, method, params));
  };
  const next = async (): Promise<Frame> => parse(await talk.peer.next());
  const ask: Speaker["ask"] = (method, params, id) => {
    send(method, params, id);
    return next();
  };
  return {
    talk,
    send,
    next,
    ask,
    async result(method, params) {
      const { result, error } = await ask(method, params);
      if (result === undefined) throw new Error(`no result, but ${JSON.stringify(error)}`);
      return isStateless ? bare(result) : result;
    },
    async error(method, params) {
      const { error, result } = await ask(method, params);
      if (error === undefined) throw new Error(`no error, but ${JSON.stringify(result)}`);
      return error;
    },
    cancel: (id) => talk.peer.send(notification("notifications/cancelled", { requestId: id })),
    async [Symbol.asyncDispose]() {
      await talk[Symbol.asyncDispose]();
      expect(server.changes.size, "listeners that are left").toBe(0);
    },
  };
}

function bare(result: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { resultType, _meta: meta, ttlMs, cacheScope, ...rest } = result;
  return rest;
}
