import { bridgeTo } from "@parlance/mcp/bridge";
import { type Clock, describeReport, memoryChannels } from "@parlance/mcp/jsonrpc";
import { serveChannel } from "@parlance/mcp/server";
import { type RawPeer, rawPeer } from "@parlance/mcp/testing";
import { expect } from "vitest";
import { claim, initialized, parse, request } from "../mcp/frames.js";

/** The newest revision of each era. */
export const eras = { handshake: "2025-11-25", stateless: "2026-07-28" } as const;

export type Era = keyof typeof eras;

/** Which era is spoken at the near end, and which at the far one. */
export const cells: readonly (readonly [near: Era, far: Era])[] = (["handshake", "stateless"] as const).flatMap(
  (near) => (["handshake", "stateless"] as const).map((far) => [near, far] as const),
);

/** What both sides offer each other. */
const offered = { tools: { listChanged: true }, resources: { subscribe: true, listChanged: true }, logging: {} };
const declared = { elicitation: { form: {} }, sampling: {}, roots: {} };

/** A bridge with somebody at each end who writes and reads frames by hand. */
export class Ends implements AsyncDisposable {
  readonly near: RawPeer;
  readonly reports: string[] = [];
  readonly #near: Era;
  readonly #far: Era;
  readonly #bridge: ReturnType<typeof bridgeTo>;
  readonly #fars: RawPeer[] = [];

  private constructor(near: Era, far: Era, clock: Clock | undefined) {
    this.#near = near;
    this.#far = far;
    const report = (each: Parameters<typeof describeReport>[0]): void => void this.reports.push(describeReport(each));
    const dial = () => {
      const [inner, outer] = memoryChannels();
      this.#fars.push(rawPeer(outer));
      return inner;
    };
    this.#bridge = bridgeTo(dial, { revision: eras[far], report, ...(clock && { clock }) });
    const [inner, outer] = memoryChannels();
    serveChannel(this.#bridge, inner, { report });
    this.near = rawPeer(outer);
  }

  /** Both ends have settled on what they speak. */
  static async open(near: Era, far: Era, clock?: Clock): Promise<Ends> {
    const ends = new Ends(near, far, clock);
    ends.near.send(near === "handshake" ? greeting : request("open", "server/discover", { _meta: ends.meta }));
    await ends.#welcome();
    expect(parse(await ends.near.next())).toMatchObject({ id: "open", result: {} });
    if (near === "handshake") ends.near.send(initialized);
    if (near === "handshake" && far === "stateless") await ends.#acknowledge();
    return ends;
  }

  /** Whoever is at the far end. */
  get far(): RawPeer {
    const [peer] = this.#fars;
    if (peer === undefined) throw new Error("nobody has dialled");
    return peer;
  }

  /** What the near end says with every request. */
  get meta(): object {
    return this.#near === "handshake" ? {} : { ...claim, "io.modelcontextprotocol/clientCapabilities": declared };
  }

  /** The text of a request of the near end, whose params are `params`, a text of members. */
  request(id: string, method: string, params: string, meta = ""): string {
    const own = JSON.stringify(this.meta).slice(1, -1);
    const all = [own, meta].filter((each) => each !== "").join(",");
    const members = [params, ...(all === "" ? [] : [`"_meta":{${all}}`])].filter((each) => each !== "").join(",");
    return `{"jsonrpc":"2.0","id":"${id}","method":"${method}","params":{${members}}}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.near.close();
    await this.#bridge.close();
    for (const peer of this.#fars) await peer.close();
  }

  /** What a server answers to whoever opens a conversation with it. */
  async #welcome(): Promise<void> {
    await expect.poll(() => this.#fars.length).toBe(1);
    const { id = 0 } = parse(await this.far.next());
    const serverInfo = { name: "far", version: "1" };
    const handshake = { protocolVersion: eras.handshake, capabilities: offered, serverInfo };
    const stateless = { supportedVersions: [eras.stateless], capabilities: offered, resultType: "complete", ttlMs: 0 };
    const result = this.#far === "handshake" ? handshake : { ...stateless, cacheScope: "private" };
    this.far.send(JSON.stringify({ jsonrpc: "2.0", id, result }));
    if (this.#far === "handshake") expect(parse(await this.far.next()).method).toBe("notifications/initialized");
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

/** The text of a member of a frame. */
export function textIn(frame: string, before: string, after: string): string {
  const from = frame.indexOf(before);
  const to = frame.lastIndexOf(after);
  if (from < 0 || to < from) throw new Error(`there is no ${before} … ${after} in ${frame}`);
  return frame.slice(from + before.length, to);
}
