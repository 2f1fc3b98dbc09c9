import type { CreateMessageResult, ElicitResult, LoggingLevel, Root, SubscriptionFilter } from "@parlance/mcp";
import { type Client, connect, type InputHandlers, LocalError, RpcError } from "@parlance/mcp/client";
import { Connection, describeReport } from "@parlance/mcp/jsonrpc";
import { assertNoLeaks } from "@parlance/mcp/testing";
import { expect } from "vitest";
import type { InputContext } from "../../packages/mcp/src/client/input/input-handlers.js";
import type { PaginatedList } from "../../packages/mcp/src/client/verbs/paginate.js";
import {
  type Answering,
  type BatchedCall,
  type CallSettings,
  changeOf,
  type Driver,
  type Fields,
  type Following,
  type ListMethod,
  type Opening,
  type Outcome,
  type Told,
} from "./driver.js";

/** A verb of the client in the place of a request. */
type Verb = (client: Client, params: Fields, settings: CallSettings) => Promise<object>;

/** The requests that the client has a verb for, which takes what the request can say but `_meta`. */
const verbs: ReadonlyMap<string, Verb> = new Map<string, Verb>([
  ["tools/call", (client, { name, arguments: args }, how) => client.tools.call(name as string, args as Fields, how)],
  ["resources/read", (client, { uri }, how) => client.resources.read(uri as string, how)],
  [
    "prompts/get",
    (client, { name, arguments: args }, how) =>
      client.prompts.get(name as string, args as Readonly<Record<string, string>>, how),
  ],
  [
    "completion/complete",
    async (client, { ref, argument, context }, how) => {
      const { arguments: settled } = (context ?? {}) as { readonly arguments?: Readonly<Record<string, string>> };
      const [reference, typed] = [ref, argument] as Parameters<Client["complete"]>;
      const options = settled === undefined ? how : { ...how, context: { arguments: settled } };
      return { completion: await client.complete(reference, typed, options) };
    },
  ],
]);

/** Whether a verb can say it all: what is malformed, or has a `_meta`, is said with `call`. */
function verbFor(method: string, params: Fields): Verb | undefined {
  const plain = ["name", "uri", "ref"].some((member) => member in params) && !("_meta" in params);
  return plain ? verbs.get(method) : undefined;
}

/** A driver that is the client of this library. */
export async function clientDriver({ revision, far, channel, target, capable }: Opening): Promise<Driver> {
  const reports: string[] = [];
  const driver = new ClientDriver(reports, far);
  const client = await connect(target?.url ?? channel, {
    ...(target && { fetch: target.fetch }),
    revision,
    info: { name: "driver", version: "1" },
    timeout: 60_000,
    handlers: capable ? driver.answers : {},
    report: (each) => void reports.push(describeReport(each)),
    onNotification: (method, params) => driver.hear({ method, params: params as Fields }),
  });
  driver.client = client;
  return driver;
}

class ClientDriver implements Driver {
  readonly kind = "client";
  readonly far: string | undefined;
  answering: Answering = () => ({ action: "cancel" });
  readonly #reports: readonly string[];
  #client: Client | undefined;
  #told: Told[] = [];
  /** The subscriptions, whose notifications the client receives as well. */
  readonly #followed: string[] = [];

  constructor(reports: readonly string[], far: string | undefined) {
    this.#reports = reports;
    this.far = far;
  }

  get client(): Client {
    if (this.#client === undefined) throw new Error("the client is not open");
    return this.#client;
  }

  set client(client: Client) {
    this.#client = client;
  }

  get revision(): string {
    return this.client.revision;
  }

  get server(): Driver["server"] {
    return this.client.server;
  }

  /** Every question goes to `answering`. */
  get answers(): InputHandlers {
    // A behaviour answers what was asked.
    const ask = async <Answer>(method: string, params: object, { signal }: InputContext): Promise<Answer> =>
      (await this.answering({ method, params: { ...params } }, signal)) as Answer;
    return {
      elicitation: (params, asked) => ask<ElicitResult>("elicitation/create", params, asked),
      urlElicitation: (params, asked) => ask<ElicitResult>("elicitation/create", params, asked),
      sampling: (params, asked) => ask<CreateMessageResult>("sampling/createMessage", params, asked),
      samplingFeatures: { tools: true },
      roots: async (asked) => (await ask<{ readonly roots: readonly Root[] }>("roots/list", {}, asked)).roots,
    };
  }

  hear(told: Told): void {
    const change = changeOf(told);
    const isFollowed = change !== undefined && this.#followed.includes(change);
    if (!isFollowed && told.method !== "notifications/subscriptions/acknowledged") this.#told.push(told);
  }

  call(method: string, params: Fields = {}, settings: CallSettings = {}): Promise<Outcome> {
    const verb = verbFor(method, params);
    if (verb !== undefined) return outcomeOf(verb(this.client, params, settings));
    const { signal } = settings;
    return outcomeOf(this.client.call(method, params, signal === undefined ? {} : { signal }));
  }

  async list(method: ListMethod): Promise<readonly Fields[]> {
    const { tools, resources, prompts } = this.client;
    const listings: Readonly<Record<ListMethod, () => PaginatedList<object>>> = {
      "tools/list": () => tools.list(),
      "resources/list": () => resources.list(),
      "resources/templates/list": () => resources.templates(),
      "prompts/list": () => prompts.list(),
    };
    return (await listings[method]().all()) as readonly Fields[];
  }

  async batch(calls: readonly BatchedCall[]): Promise<readonly Outcome[]> {
    try {
      if (!(this.client.connection instanceof Connection)) return [{ local: "refused" }]; // One call is one request.
      const batch = this.client.connection.batch();
      const ids = calls.map(([method, params]) => batch.request(method, params));
      const outcomes = await batch.send();
      return ids.map((id) => {
        const outcome = outcomes.get(id);
        return outcome?.ok === true ? { result: outcome.result as Fields } : failureOf(outcome?.error);
      });
    } catch (error) {
      return [failureOf(error)];
    }
  }

  setLogLevel(level: LoggingLevel): Promise<Outcome> {
    return outcomeOf(this.client.setLogLevel(level).then(() => ({})));
  }

  async follow(filter: SubscriptionFilter): Promise<Following> {
    const { resourceSubscriptions = [], ...lists } = filter;
    const names = [...Object.keys(lists).map((member) => member.replace("ListChanged", "")), ...resourceSubscriptions];
    this.#followed.push(...names);
    const subscription = await this.client.subscribe(filter);
    const changes = subscription[Symbol.asyncIterator]();
    return {
      resources: subscription.filter.resourceSubscriptions ?? [],
      next: async () => nameOf(await changes.next()),
      close: async () => {
        await subscription.close();
        for (const name of names) this.#followed.splice(this.#followed.indexOf(name), 1);
      },
    };
  }

  ping(): Promise<void> {
    return this.client.ping();
  }

  rootsChanged(): void {
    this.client.rootsChanged();
  }

  told(): readonly Told[] {
    const told = this.#told;
    this.#told = [];
    return told;
  }

  assertAtRest(): void {
    assertNoLeaks(this.client.connection);
    expect(this.#told, "unread notifications").toEqual([]);
    expect(this.#reports, "what the client reports").toEqual([]);
  }

  close(): Promise<void> {
    return this.client.close();
  }
}

function nameOf(next: Awaited<ReturnType<AsyncIterator<{ readonly kind: string }>["next"]>>): string {
  const change = next.value as { readonly kind: string; readonly list?: string; readonly uri?: string } | undefined;
  return change?.list ?? change?.uri ?? change?.kind ?? "the end";
}

async function outcomeOf(call: Promise<object>): Promise<Outcome> {
  try {
    return { result: (await call) as Fields };
  } catch (error) {
    return failureOf(error);
  }
}

function failureOf(error: unknown): Outcome {
  if (error instanceof LocalError) return { local: error.reason };
  if (!(error instanceof RpcError)) throw error;
  const { code, message, data } = error;
  return { error: { code, message, ...(data === undefined ? {} : { data }) } };
}
