import { escapeControls } from "@parlance/mcp/jsonrpc";
import {
  isObject,
  type JsonObject,
  type Messages,
  methods,
  notifications,
  type Revision,
} from "@parlance/mcp/protocol";
import {
  levelOfFinding,
  type RawClient,
  type RawReply,
  type RawRequest,
  type Requirement,
  sentenceOf,
  specOf,
  type Verdict,
} from "@parlance/wire";
import type { WantedCall } from "../../../shared/client/tool-arguments.js";

/** A request to a server, with the judgement of the response and the sentence that requires it. */
export interface Probe extends Requirement {
  /** The revisions and transports that it applies to. Default: all. */
  readonly applies?: (revision: Revision, transport: RawClient["transport"]) => boolean;
  /** Whether it ends the conversation, so that the next probe needs a new one. */
  readonly endsConversation?: true;
  /** Whether it works without a token on a server that requires one. */
  readonly needsNoToken?: true;
  /** Runs the probe. Rejects with a Failure for a wanted call of a tool that the server does not have, else only for a bug of this program. */
  readonly ask: (subject: Subject) => Promise<ProbeOutcome>;
}

/** The result of a failed probe. */
interface Failed {
  readonly is: "failed";
  /** The observed behaviour, in one sentence. */
  readonly says: string;
  /** Why it does not break the sentence of the probe; then it is only a note. */
  readonly doubt?: string;
}

/** The outcome of a probe. */
export type ProbeOutcome =
  | { readonly is: "passed" }
  | Failed
  /** The probe could not run. */
  | { readonly is: "skipped"; readonly why: string };

/** The verdict of a failed probe. */
export function verdictOf(probe: Probe, { says, doubt = probe.doubt }: Failed, n: number, revision: Revision): Verdict {
  return {
    rule: probe,
    level: levelOfFinding(doubt === undefined ? probe : { ...probe, doubt }, revision),
    party: "server",
    n,
    pointer: undefined,
    range: undefined,
    header: undefined,
    says,
    version: revision.version,
    sentence: sentenceOf(probe, revision),
    doubt,
    spec: specOf(probe, revision),
  };
}

/** The finding of a probe that passed. */
export const passed: ProbeOutcome = { is: "passed" };

/** @param says the observed behaviour; safe to print */
export function failed(says: string): ProbeOutcome {
  return { is: "failed", says };
}

/** A copy of an outcome as a note. @param doubt why it does not break the sentence of the probe */
export function asNote(finding: ProbeOutcome, doubt: string): ProbeOutcome {
  return finding.is === "failed" ? { ...finding, doubt } : finding;
}

/** @param why the reason why the probe cannot run */
export function skipped(why: string): ProbeOutcome {
  return { is: "skipped", why };
}

/** The access to a server over HTTP. */
export interface Access {
  readonly url: URL;
  /** The value of `Authorization` that the user gave. */
  readonly authorization: string | undefined;
  /** The value of `Authorization` with a token for another server. */
  readonly foreign: string | undefined;
  /** The value of `Authorization` with a token of another user. */
  readonly otherUser: string | undefined;
}

/** Progress tokens that are numbers are above the ids. */
const firstToken = 1_000_000;

/** A call of a tool. */
export interface ToolCall {
  readonly name: unknown;
  readonly args: JsonObject;
}

/** A server in one revision, while it is examined. */
export class Subject {
  readonly client: RawClient;
  readonly revision: Revision;
  readonly messages: Messages;
  /** The capabilities that it has advertised. */
  capabilities: JsonObject = {};
  /** The access over HTTP; undefined for another transport. */
  readonly access: Access | undefined;
  /** The calls that the user wants, beside those that need no asking. */
  readonly wanted: readonly WantedCall[];
  #lastId = 100;
  /** The number of calls of each tool. */
  readonly #calls = new Map<unknown, number>();
  #openingStatus: number | undefined;

  constructor(client: RawClient, messages: Messages, access?: Access, wanted: readonly WantedCall[] = []) {
    this.client = client;
    this.access = access;
    this.wanted = wanted;
    this.messages = messages;
    this.revision = messages.revision;
    client.onRequest = (request) => {
      const { id } = request;
      if (request.method === methods.ping) return JSON.stringify({ jsonrpc: "2.0", id, result: {} });
      return JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32_601, message: "Method not found" } });
    };
  }

  /** Whether the server advertises a capability. */
  offers(capability: string): boolean {
    let value: unknown = this.capabilities;
    for (const name of capability.split(".")) value = isObject(value) ? value[name] : undefined;
    return value !== undefined && value !== false;
  }

  /** Sends a request with everything that the revision requires of every request. */
  ask(
    method: string,
    params: JsonObject = {},
    id: string | number = this.nextId(),
    http?: RawRequest,
  ): Promise<RawReply> {
    return this.client.send(this.request(id, method, params), id, http);
  }

  /** Calls a tool, and asks for its progress: the rules on that are for servers that send some. */
  call({ name, args }: ToolCall): Promise<RawReply> {
    const id = this.nextId();
    const { _meta = {} } = this.#meta();
    const calls = (this.#calls.get(name) ?? 0) + 1;
    this.#calls.set(name, calls);
    // Of each tool a number and a text in turn, and never an id: a server may take one for the other.
    const progressToken = calls % 2 === 1 ? id + firstToken : `token ${id}`;
    return this.ask(methods.callTool, { name, arguments: args, _meta: { ..._meta, progressToken } }, id);
  }

  /** The text of a request as `ask` sends it. */
  request(id: string | number, method: string, params: JsonObject = {}): string {
    const whole = { ...this.#meta(), ...params };
    const isEmpty = Object.keys(whole).length === 0;
    return JSON.stringify({ jsonrpc: "2.0", id, method, ...(isEmpty ? {} : { params: whole }) });
  }

  notify(method: string, params: JsonObject = {}): Promise<RawReply> {
    return this.client.send(this.notification(method, params));
  }

  /** The text of a notification as `notify` sends it. */
  notification(method: string, params: JsonObject): string {
    return JSON.stringify({ jsonrpc: "2.0", method, params });
  }

  /** An unused id. */
  nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  /** The method of the request that every server of the revision answers: a discovery or a ping. */
  get ping(): string {
    return this.revision.era === "stateless" ? methods.discover : methods.ping;
  }

  /** Sends a request that every server answers. */
  askAnything(http?: RawRequest): Promise<RawReply> {
    return this.ask(this.ping, {}, this.nextId(), http);
  }

  /**
   * Fails unless the server still answers a ping or a discovery, with the right id. It asks twice: a handler that has only begun
   * may end the server after the first answer.
   */
  async stillAnswers(): Promise<ProbeOutcome> {
    const first = await this.#isAlive();
    return first.is === "passed" ? this.#isAlive() : first;
  }

  async #isAlive(): Promise<ProbeOutcome> {
    const reply = await this.askAnything();
    const { answer } = reply;
    if (answer === undefined) return failed(`afterwards ${unanswered(this.ping, reply)}`);
    // A server without ping breaks another rule, and is alive.
    const isWithoutPing = isObject(answer.error) && answer.error.code === this.revision.codes.methodNotFound;
    return "result" in answer || isWithoutPing
      ? passed
      : failed(`afterwards ${this.ping} was answered with ${describe(answer)}`);
  }

  /** The items of the first page of a list; empty if the server refuses the request. */
  async list(method: string, member: string): Promise<readonly JsonObject[]> {
    const { answer } = await this.ask(method);
    const items = isObject(answer?.result) ? answer.result[member] : undefined;
    return Array.isArray(items) ? items.filter(isObject) : [];
  }

  /**
   * Opens the conversation: a handshake or a discovery. Resolves to a failure if the server does not respond as the revision
   * requires.
   */
  async open(): Promise<ProbeOutcome> {
    const { version, era } = this.revision;
    const isStateless = era === "stateless";
    const method = isStateless ? methods.discover : methods.initialize;
    const clientInfo = { name: "parlance", version: "0.1.0" };
    const reply = await this.ask(method, isStateless ? {} : { protocolVersion: version, capabilities: {}, clientInfo });
    const { answer, http } = reply;
    this.#openingStatus = http?.status;
    if (answer === undefined) return failed(unanswered(method, reply));
    const { result } = answer;
    if (!isObject(result)) return failed(`${method} was answered with ${describe(answer)}`);
    const { protocolVersion, supportedVersions: supported } = result;
    if (isStateless && !(Array.isArray(supported) && supported.includes(version)))
      return failed(`it supports ${quoted(supported)}`);
    if (!isStateless && protocolVersion !== version) return failed(`it settles on ${quoted(protocolVersion)}`);
    if (isObject(result.capabilities)) this.capabilities = result.capabilities;
    if (isStateless) return passed;
    this.client.useVersion(version);
    await this.client.send(JSON.stringify({ jsonrpc: "2.0", method: notifications.initialized }));
    return passed;
  }

  /** Whether the request that opens the conversation got no HTTP response, as from a server that has ended. */
  get gotNoStatus(): boolean {
    return this.#openingStatus === undefined;
  }

  /** Whether the server requires a token and did not accept one. */
  get isUnauthorized(): boolean {
    return this.#openingStatus === 401;
  }

  /** The `_meta` members that every request of the stateless era must have. */
  #meta(): { readonly _meta?: JsonObject } {
    if (this.revision.era !== "stateless") return {};
    const { params } = this.messages.request(1, methods.discover, {} as never); // The example of the revision has params.
    return isObject(params) && isObject(params._meta) ? { _meta: params._meta } : {};
  }
}

/** Whether a finding is that no answer has come, or none that could be read. */
export function isSilence(says: string | undefined): boolean {
  return /(?:no answer in time|an answer without a line feed)$/.test(says ?? "");
}

/** Why there is no answer: the status of an HTTP response without a message, or the silence. */
function unanswered(method: string, { silence, http }: RawReply): string {
  if (http === undefined) return `${method} was not answered: ${silence}`;
  const { status, statusText } = http;
  return `${method} got ${escapeControls(`${status} ${statusText}`.trim())}, without a message`;
}

/** An answer in a few words, safe to print. */
export function describe(answer: JsonObject): string {
  const { error, result } = answer;
  if (isObject(error)) return `error ${quoted(error.code)} ${quoted(error.message)}`;
  return `a result ${quoted(result)}`;
}

const longest = 60;

/** A value as JSON, truncated and safe to print. */
export function quoted(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return escapeControls(text.length <= longest ? text : `${text.slice(0, longest)}…`);
}

/** Passes for an error response with one of these codes; fails with a description otherwise. */
export function expectError(reply: RawReply, codes: readonly number[]): ProbeOutcome {
  const { answer, silence } = reply;
  const wanted = codes.join(" or ");
  if (answer === undefined) return failed(`no answer (${silence}), expected error ${wanted}`);
  const code = isObject(answer.error) ? answer.error.code : undefined;
  return codes.includes(code as number) ? passed : failed(`${describe(answer)}, expected error ${wanted}`);
}

/** Why an error with another code is only a note: the specification lists codes in tables, without a MUST. */
export const noCode = "no sentence demands the code";

/** Like `expectError`, if the sentence requires an error, and no sentence requires its code. */
export function expectRefusal(reply: RawReply, codes: readonly number[]): ProbeOutcome {
  const found = expectError(reply, codes);
  return isObject(reply.answer?.error) ? asNote(found, noCode) : found;
}

/** Passes for a result; fails with a description otherwise. */
export function expectResult({ answer, silence }: RawReply): ProbeOutcome {
  if (answer === undefined) return failed(`no answer (${silence}), expected a result`);
  return "result" in answer ? passed : failed(`${describe(answer)}, expected a result`);
}
