import { chmodSync, readFileSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { latest, latestHandshake } from "@parlance/mcp";
import type { Channel } from "@parlance/mcp/jsonrpc";
import { childChannel } from "@parlance/mcp/node";
import { type RawPeer, rawPeer } from "@parlance/mcp/testing";
import { describe, expect, test } from "vitest";
import { watchedServer } from "../oracle/watched.js";
import { initialize, initialized, notification, parse, request, resultOf, stateless } from "../testing/frames.js";
import { commandFor } from "./git-client.js";
import { Folder, newRepository } from "./repository.js";

const staged = "git:/diff/staged";
const log = "git:/log";

/** A client that follows resources of a server that is a process of its own. */
abstract class Follower implements AsyncDisposable {
  readonly peer: RawPeer;
  protected lastId = 0;

  constructor(channel: Channel) {
    this.peer = rawPeer(channel);
  }

  abstract open(): Promise<void>;
  abstract follow(uri: string): Promise<void>;
  abstract leave(uri: string): Promise<void>;
  /** The notification of a change of a subscribed resource. */
  abstract updated(uri: string): string;
  protected abstract request(method: string, params: object): string;

  async read(uri: string): Promise<unknown> {
    const { contents } = resultOf(await this.ask("resources/read", { uri }));
    return (contents as readonly { readonly text: string }[])[0]?.text; // What the protocol says.
  }

  /** Nothing has come since what was read last, and before the answer to this. */
  async expectSilence(): Promise<void> {
    expect(resultOf(await this.ask("resources/list", {}))).toHaveProperty("resources");
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.peer[Symbol.asyncDispose]();
  }

  protected ask(method: string, params: object): Promise<string> {
    this.lastId += 1;
    this.peer.send(this.request(method, params));
    return this.peer.next();
  }
}

/** By `resources/subscribe`. */
class Subscriber extends Follower {
  async open(): Promise<void> {
    this.peer.send(initialize(latestHandshake.version));
    expect(resultOf(await this.peer.next()).capabilities).toMatchObject({ resources: { subscribe: true } });
    this.peer.send(initialized);
  }

  async follow(uri: string): Promise<void> {
    expect(resultOf(await this.ask("resources/subscribe", { uri }))).toEqual({});
  }

  async leave(uri: string): Promise<void> {
    expect(resultOf(await this.ask("resources/unsubscribe", { uri }))).toEqual({});
  }

  updated(uri: string): string {
    return notification("notifications/resources/updated", { uri });
  }

  protected request(method: string, params: object): string {
    return request(this.lastId, method, params);
  }
}

/** By `subscriptions/listen`. */
class Listener extends Follower {
  readonly #subscriptions = new Map<string, number>();

  async open(): Promise<void> {
    // Every request says for itself what it speaks.
  }

  async follow(uri: string): Promise<void> {
    const answer = await this.ask("subscriptions/listen", { notifications: { resourceSubscriptions: [uri] } });
    expect(parse(answer)).toMatchObject({
      method: "notifications/subscriptions/acknowledged",
      params: { notifications: { resourceSubscriptions: [uri] } },
    });
    this.#subscriptions.set(uri, this.lastId);
  }

  async leave(uri: string): Promise<void> {
    this.peer.send(notification("notifications/cancelled", { requestId: this.#subscriptions.get(uri) }));
  }

  updated(uri: string): string {
    const meta = { "io.modelcontextprotocol/subscriptionId": this.#subscriptions.get(uri) };
    return notification("notifications/resources/updated", { uri, _meta: meta });
  }

  protected request(method: string, params: object): string {
    return stateless(this.lastId, method, params);
  }
}

describe.each([
  { revision: latestHandshake.version, Client: Subscriber },
  { revision: latest.version, Client: Listener },
])("a client of $revision", ({ Client }) => {
  async function openClient(folder: Folder, env?: Record<string, string>): Promise<Follower> {
    const client = new Client(watchedServer(childChannel(commandFor(folder, env))));
    await client.open();
    return client;
  }

  test("is notified of a file that is staged in another terminal, and reads it", async () => {
    using repository = newRepository();
    repository.write("f", "1\n");
    repository.commit("Begin");
    await using client = await openClient(repository);
    expect(await client.read(staged)).toBe("");
    await client.follow(staged);
    repository.write("f", "2\n");
    repository.git("add", "f");
    expect(await client.peer.next()).toBe(client.updated(staged));
    expect(await client.read(staged)).toBe(repository.git("diff", "--cached"));
    repository.git("restore", "--staged", "f");
    expect(await client.peer.next()).toBe(client.updated(staged));
    expect(await client.read(staged)).toBe("");
  });

  test("is not notified after unsubscribing, nor of changes to other resources", async () => {
    using repository = newRepository();
    repository.write("f", "1\n");
    repository.commit("Begin");
    await using client = await openClient(repository);
    await client.follow(log);
    await client.follow(staged);
    repository.write("f", "2\n");
    repository.git("add", "f");
    expect(await client.peer.next()).toBe(client.updated(staged));
    await client.leave(staged);
    repository.git("rm", "--cached", "--quiet", "f");
    repository.git("branch", "other");
    repository.git("commit", "--quiet", "--message", "Remove");
    // One look tells of what is staged before it tells of the log: what comes first is a proof.
    expect(await client.peer.next()).toBe(client.updated(log));
    await client.expectSilence();
  });

  test("is not told that the index was written anew with the same in it", async () => {
    using repository = newRepository();
    repository.write("f", "1\n");
    repository.commit("Begin");
    await using client = await openClient(repository);
    await client.follow(staged);
    await client.follow(log);
    utimesSync(join(repository.path, "f"), 0, 0);
    repository.git("status");
    repository.git("commit", "--quiet", "--allow-empty", "--message", "Nothing");
    expect(await client.peer.next()).toBe(client.updated(log));
    await client.expectSilence();
  });

  test("is notified of a change that leaves the same time stamp, on a file system with coarse ones", async () => {
    using repository = newRepository();
    const folder = join(repository.path, ".git");
    const soon = Math.ceil(Date.now() / 1_000) + 3_600; // As new as can be, however slow this machine is.
    utimesSync(folder, soon, soon);
    await using client = await openClient(repository);
    await client.follow(staged);
    repository.write("f", "1\n");
    repository.git("add", "f");
    utimesSync(folder, soon, soon);
    expect(await client.peer.next()).toBe(client.updated(staged));
  });

  test("is notified of the first file and of the first commit of a new repository", async () => {
    using repository = newRepository();
    await using client = await openClient(repository);
    await client.follow(staged);
    repository.write("f", "1\n");
    repository.git("add", "f");
    expect(await client.peer.next()).toBe(client.updated(staged));
    await client.leave(staged);
    await client.follow(log);
    repository.git("commit", "--quiet", "--message", "Begin");
    expect(await client.peer.next()).toBe(client.updated(log));
    expect(await client.read(log)).toContain("Ada Lovelace: Begin\n");
  });

  test("is notified of changes of a linked working tree, whose .git is a file, on a branch with a slash", async () => {
    using repository = newRepository();
    repository.write("f", "1\n");
    repository.commit("Begin");
    using linked = new Folder();
    repository.git("worktree", "add", "--quiet", "-b", "feature/x", linked.path);
    await using client = await openClient(linked);
    await client.follow(log);
    await client.follow(staged);
    repository.write("f", "of the other\n");
    repository.git("add", "f");
    linked.git("commit", "--quiet", "--allow-empty", "--message", "Ours");
    expect(await client.peer.next()).toBe(client.updated(log));
    linked.write("f", "2\n");
    linked.git("add", "f");
    expect(await client.peer.next()).toBe(client.updated(staged));
    linked.git("reset", "--quiet", "--hard");
    linked.git("reset", "--quiet", "--soft", "HEAD~1");
    expect(await client.peer.next()).toBe(client.updated(staged));
    expect(await client.peer.next()).toBe(client.updated(log));
    expect(await client.read(log)).not.toContain("Ours");
  });

  test("makes the server watch by following something, and not by coming", async () => {
    using repository = newRepository();
    using bin = new Folder();
    const calls = join(bin.path, "calls");
    bin.write("git", `#!/bin/sh\necho "$@" >>'${calls}'\nPATH='${process.env.PATH}' exec git "$@"\n`);
    chmodSync(join(bin.path, "git"), 0o755);
    const looks = (): number => readFileSync(calls, "utf8").split("diff --cached --raw").length - 1;
    await using client = await openClient(repository, { PATH: bin.path });
    expect(await client.read(staged)).toBe("");
    expect(looks()).toBe(0);
    await client.follow(staged);
    expect(looks()).toBe(1);
  });

  test("ends the server while it follows something: nothing keeps it alive", async () => {
    using repository = newRepository();
    const channel = childChannel(commandFor(repository));
    const client = new Client(channel);
    await client.open();
    await client.follow(staged);
    await client.peer.close();
    expect(channel.exit).toEqual({ code: 0, signal: null });
    expect(channel.stderr).toBe("");
  });
});
