import { type Bridge, bridgeTo } from "@parlance/mcp/bridge";
import { type Channel, type Clock, describeReport, memoryChannels, type Report } from "@parlance/mcp/jsonrpc";
import { serveHttp } from "@parlance/mcp/node";
import { serveChannel } from "@parlance/mcp/server";
import { type RawPeer, rawPeer } from "@parlance/mcp/testing";
import { expect } from "vitest";
import { claim, initialized, parse, request } from "../testing/frames.js";

/** The newest revision of each era. */
export const eras = { handshake: "2025-11-25", stateless: "2026-07-28" } as const;

export type Era = keyof typeof eras;

/** Which era is spoken at the downstream, and which at the far one. */
export const cells: readonly (readonly [near: Era, far: Era])[] = (["handshake", "stateless"] as const).flatMap(
  (near) => (["handshake", "stateless"] as const).map((far) => [near, far] as const),
);

/** The capabilities of both sides. */
const offered = { tools: { listChanged: true }, resources: { subscribe: true, listChanged: true }, logging: {} };
const declared = { elicitation: { form: {} }, sampling: {}, roots: {} };

/** How a bridge is set up. */
export interface Setup {
  readonly clock?: Clock;
  /** There is HTTP between: two bridges, one behind the other. */
  readonly overHttp?: boolean;
}

/** A bridge with somebody at each end who writes and reads frames by hand. */
export class Ends implements AsyncDisposable {
  /** Whoever is at the downstream. */
  readonly near: RawPeer;
  readonly reports: string[] = [];
  readonly #nearEra: Era;
  readonly #farEra: Era;
  readonly #fars: RawPeer[] = [];
  /** In the order in which they are closed. */
  readonly #owned: { close(): Promise<void> }[] = [];
  /** Where the bridge is served. */
  readonly #inner: Channel;

  private constructor(near: Era, far: Era) {
    this.#nearEra = near;
    this.#farEra = far;
    const [inner, outer] = memoryChannels();
    this.near = rawPeer(outer);
    this.#inner = inner;
  }

  /** Both ends have settled on what they speak. */
  static async open(near: Era, far: Era, setup: Setup = {}): Promise<Ends> {
    const ends = new Ends(near, far);
    serveChannel(await ends.#bridge(setup), ends.#inner, { report: ends.#report });
    ends.near.send(near === "handshake" ? greeting : request("open", "server/discover", { _meta: ends.meta }));
    await ends.#welcome();
    expect(parse(await ends.near.next())).toMatchObject({ id: "open", result: {} });
    if (near === "handshake") ends.near.send(initialized);
    if (near === "handshake" && far === "stateless") await ends.#acknowledge();
    return ends;
  }

  /** Whoever is at the upstream. */
  get far(): RawPeer {
    const [peer] = this.#fars;
    if (peer === undefined) throw new Error("nobody has dialled");
    return peer;
  }

  /** The metadata of every request of the downstream. */
  get meta(): object {
    return this.#nearEra === "handshake" ? {} : { ...claim, "io.modelcontextprotocol/clientCapabilities": declared };
  }

  /** The text of a request of the downstream, whose params are `params`, a text of members. */
  request(id: string, method: string, params: string, meta = ""): string {
    const own = JSON.stringify(this.meta).slice(1, -1);
    const all = [own, meta].filter((each) => each !== "").join(",");
    const members = [params, ...(all === "" ? [] : [`"_meta":{${all}}`])].filter((each) => each !== "").join(",");
    return `{"jsonrpc":"2.0","id":"${id}","method":"${method}","params":{${members}}}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const each of [this.near, ...this.#owned, ...this.#fars]) await each.close();
  }

  readonly #report = (each: Report): void => void this.reports.push(describeReport(each));

  async #bridge({ clock, overHttp = false }: Setup): Promise<Bridge> {
    const options = { revision: eras[this.#farEra], report: this.#report, ...(clock && { clock }) };
    const dial = (): Channel => {
      const [inner, outer] = memoryChannels();
      this.#fars.push(rawPeer(outer));
      return inner;
    };
    const bridge = bridgeTo(dial, options);
    this.#owned.unshift(bridge);
    if (!overHttp) return bridge;
    const http = await serveHttp(bridge, { report: this.#report });
    const another = bridgeTo(http.url, options);
    this.#owned.unshift(another, http);
    return another;
  }

  /** The response of a server to the opening of a session. */
  async #welcome(): Promise<void> {
    await expect.poll(() => this.#fars.length).toBe(1);
    const { id = 0 } = parse(await this.far.next());
    const serverInfo = { name: "far", version: "1" };
    const handshake = { protocolVersion: eras.handshake, capabilities: offered, serverInfo };
    const stateless = { supportedVersions: [eras.stateless], capabilities: offered, resultType: "complete", ttlMs: 0 };
    const result = this.#farEra === "handshake" ? handshake : { ...stateless, cacheScope: "private" };
    this.far.send(JSON.stringify({ jsonrpc: "2.0", id, result }));
    if (this.#farEra === "handshake") expect(parse(await this.far.next()).method).toBe("notifications/initialized");
  }

  /** A bridge follows the lists, for a client that need not ask for it. */
  async #acknowledge(): Promise<void> {
    const { id, params } = parse(await this.far.next());
    const told = { notifications: params?.notifications, _meta: { "io.modelcontextprotocol/subscriptionId": id } };
    const method = "notifications/subscriptions/acknowledged";
    this.far.send(JSON.stringify({ jsonrpc: "2.0", method, params: told }));
  }
}

const greeting = request("open", "initialize", {
  protocolVersion: eras.handshake,
  capabilities: declared,
  clientInfo: { name: "near", version: "1" },
});
