import { messagesOf, type Revision, revisions } from "@parlance/mcp/protocol";
import {
  byEra,
  Conversation,
  type Entry,
  EntryWriter,
  type HeaderEntry,
  type RawClient,
  type Verdict,
} from "@parlance/wire";
import type { WantedCall } from "../../../shared/client/tool-arguments.js";
import { openRawClient } from "../../../shared/target/raw-client.js";
import type { Route } from "../../../shared/target/route.js";
import { type Access, failed, isSilence, type Probe, type ProbeOutcome, passed, Subject, verdictOf } from "./probe.js";
import { authorizationProbes } from "./probes/authorization.js";
import { featureProbes } from "./probes/features.js";
import { httpProbes } from "./probes/http.js";
import { messageProbes } from "./probes/messages.js";
import { openingProbes } from "./probes/opening.js";

/** The result of one probe in one revision. */
export interface ProbeResult {
  readonly probe: Probe;
  readonly finding: ProbeOutcome;
  /** Numbers of the first and the last frame of the probe. */
  readonly frames: readonly [first: number, last: number];
  /** The verdict; undefined unless the probe failed. */
  readonly verdict: Verdict | undefined;
}

/** The results of one revision. */
export interface RevisionResult {
  readonly revision: Revision;
  /** Why the server does not support the revision; undefined if it does. */
  readonly notSpoken: string | undefined;
  /** Whether that is unknown, because the server responds no more since a probe of another revision. */
  readonly isLost: boolean;
  /** Whether that is unknown, because the server required a token and got none that it accepts. */
  readonly isUnauthorized: boolean;
  /** The results. For an unsupported revision, only those on authorization, if the server requires a token. */
  readonly results: readonly ProbeResult[];
}

/** The results of all revisions. */
export interface Examination {
  readonly revisions: readonly RevisionResult[];
  readonly entries: readonly Entry[];
  readonly conversation: Conversation;
  /** The verdicts on the messages of the server. Those on the client are left out: it breaks many rules on purpose. */
  readonly verdicts: readonly Verdict[];
  /** The failed probes, as verdicts. */
  readonly failures: readonly Verdict[];
  /** The requests without a response when the examination was interrupted. */
  readonly waiting: ReturnType<Conversation["pending"]>;
}

export interface ExamineOptions {
  /** Default: all. */
  readonly revisions?: readonly Revision[];
  /** Milliseconds to wait for each answer. */
  readonly timeout: number;
  readonly signal: AbortSignal;
  /** Tokens that the server must refuse. */
  readonly refused: Pick<Access, "foreign" | "otherUser">;
  /** The calls of tools that the user wants. */
  readonly calls: readonly WantedCall[];
  /** The ids of probes that are not run. */
  readonly except: ReadonlySet<string>;
  /** Called with the current step, in words. */
  readonly onProgress: (words: string) => void;
  /** Called once if the server is slow to start, with the milliseconds that it has not responded. */
  readonly onSlowStart: (milliseconds: number) => void;
  readonly header: HeaderEntry;
}

/** Every probe, in order. */
export const probes: readonly Probe[] = [
  ...openingProbes,
  ...messageProbes,
  ...featureProbes,
  ...httpProbes,
  ...authorizationProbes,
];

/** The factor of the timeout for the first response, because the server may have to start: 30 s by default. */
const startFactor = 6;

/** The settings and the state that the examinations of all revisions share. */
interface Shared {
  readonly route: Route;
  readonly options: ExamineOptions;
  readonly conversation: Conversation;
  readonly writer: EntryWriter;
  /** The probes that are run. */
  readonly probes: readonly Probe[];
  /** The most milliseconds from a start to the first response; undefined before the first start. */
  slowest: number | undefined;
  /** The probe and the revision after which a server at a URL did not respond again; undefined while it responds. */
  lostAfter: string | undefined;
}

/** Runs every probe on a server, in every revision that it supports, and records the messages. */
export async function examine(route: Route, options: ExamineOptions): Promise<Examination> {
  const entries: Entry[] = [options.header];
  const conversation = new Conversation();
  const writer = new EntryWriter((entry) => {
    entries.push(entry);
    conversation.push(entry);
  });
  let waiting: Examination["waiting"] = [];
  // Read before the servers are closed: closing ends every wait.
  const interrupted = (): void => {
    waiting = conversation.pending(writer.now).filter(({ over }) => !over);
  };
  options.signal.addEventListener("abort", interrupted, { once: true });
  const results: RevisionResult[] = [];
  const shared: Shared = {
    route,
    options,
    conversation,
    writer,
    probes: probes.filter(({ id }) => !options.except.has(id)),
    slowest: undefined,
    lostAfter: undefined,
  };
  for (const revision of options.revisions ?? revisions) {
    if (options.signal.aborted) break;
    const result = await new RevisionExamination(revision, shared).run();
    if (!options.signal.aborted || result.results.length > 0) results.push(result);
  }
  options.signal.removeEventListener("abort", interrupted);
  conversation.finish();
  const failures = results.flatMap((result) => result.results.flatMap(({ verdict }) => verdict ?? []));
  const verdicts = conversation.verdicts.filter(({ party }) => party === "server");
  return { revisions: results, entries, conversation, verdicts, failures, waiting };
}

class RevisionExamination {
  readonly #revision: Revision;
  readonly #shared: Shared;
  readonly #options: ExamineOptions;
  #clients = 0;

  constructor(revision: Revision, shared: Shared) {
    this.#revision = revision;
    this.#shared = shared;
    this.#options = shared.options;
  }

  async run(): Promise<RevisionResult> {
    const revision = this.#revision;
    this.#options.onProgress(`${revision.version}: opening`);
    let { client, subject, opened } = await this.#open();
    const results: ProbeResult[] = [];
    if (opened.is === "failed") {
      if (subject.isUnauthorized && this.#isNewest) results.push(...(await this.#askWithoutToken(subject)));
      await client.close();
      const lostAfter = subject.gotNoStatus ? this.#shared.lostAfter : undefined;
      const { isUnauthorized } = subject;
      const notSpoken = lostAfter === undefined ? opened.says : `the server has not responded since ${lostAfter}`;
      return { revision, notSpoken, isLost: lostAfter !== undefined, isUnauthorized, results };
    }
    this.#shared.lostAfter = undefined;
    for (const probe of this.#shared.probes) {
      const result = await this.#ask(probe, subject).catch(async (error: unknown) => {
        await client.close();
        throw error;
      });
      if (this.#options.signal.aborted) break; // An interrupted probe has no response to judge.
      if (result === undefined) continue;
      results.push(result);
      const { finding } = result;
      const isOver = probe.endsConversation === true && finding.is !== "skipped";
      if (!isOver && (finding.is !== "failed" || (await subject.stillAnswers()).is === "passed")) continue;
      // A probe that ends the conversation: open a new one for the next.
      await client.close();
      ({ client, subject, opened } = await this.#open());
      if (opened.is !== "failed") continue;
      // A command is started anew for the next revision.
      if (this.#shared.route.kind !== "channel") this.#shared.lostAfter = `${probe.id} in ${revision.version}`;
      break;
    }
    results.push(...(await this.#leave(client)));
    return { revision, notSpoken: undefined, isLost: false, isUnauthorized: false, results };
  }

  /**
   * Whether this is the newest revision. Without an accepted token, the supported revisions are unknown, so authorization is
   * judged by the newest only.
   */
  get #isNewest(): boolean {
    return (this.#options.revisions ?? revisions).at(-1) === this.#revision;
  }

  async #askWithoutToken(subject: Subject): Promise<readonly ProbeResult[]> {
    const results: ProbeResult[] = [];
    for (const probe of this.#shared.probes.filter(({ needsNoToken }) => needsNoToken)) {
      const result = await this.#ask(probe, subject);
      if (this.#options.signal.aborted) break;
      if (result !== undefined) results.push(result);
    }
    return results;
  }

  /** The result of a probe; undefined if it does not apply. */
  async #ask(probe: Probe, subject: Subject): Promise<ProbeResult | undefined> {
    if (this.#options.signal.aborted || probe.applies?.(this.#revision, subject.client.transport) === false)
      return undefined;
    this.#options.onProgress(`${this.#revision.version}: ${probe.id} ${probe.demands}`);
    const first = this.#lastFrame + 1;
    return this.#result(probe, await probe.ask(subject), first);
  }

  get #lastFrame(): number {
    return this.#shared.conversation.rows.at(-1)?.n ?? 0;
  }

  async #open(): Promise<{ readonly client: RawClient; readonly subject: Subject; readonly opened: ProbeOutcome }> {
    const { timeout, onSlowStart } = this.#options;
    const before = performance.now();
    const client = this.#dial();
    const subject = new Subject(client, messagesOf(this.#revision.version), this.#access, this.#options.calls);
    const isFirst = this.#shared.slowest === undefined;
    const slow = isFirst ? setTimeout(() => onSlowStart(timeout), timeout) : undefined;
    const opened = await subject.open();
    clearTimeout(slow);
    // A silent server does not get the long timeout again.
    const took = opened.is === "failed" && isSilence(opened.says) ? 0 : performance.now() - before;
    this.#shared.slowest = Math.max(this.#shared.slowest ?? 0, took);
    return { client, subject, opened };
  }

  get #access(): Access | undefined {
    if (this.#shared.route.kind === "channel") return undefined;
    const { url, headers } = this.#shared.route;
    const [, authorization] = headers.findLast(([name]) => name.toLowerCase() === "authorization") ?? [];
    return { url, authorization, ...this.#options.refused };
  }

  #dial(): RawClient {
    this.#clients += 1;
    const { version } = this.#revision;
    const session = this.#clients === 1 ? version : `${version} ${this.#clients}`;
    const { timeout, signal } = this.#options;
    const { slowest } = this.#shared;
    const firstTimeout = slowest === undefined ? startFactor * timeout : timeout + slowest;
    const how = { timeout, firstTimeout, writer: this.#shared.writer, session, revision: this.#revision, stop: signal };
    return openRawClient(this.#shared.route, how);
  }

  async #leave(client: RawClient): Promise<readonly ProbeResult[]> {
    const first = this.#lastFrame + 1;
    const took = await client.close();
    if (client.transport === "http" || this.#options.signal.aborted) return [];
    const finding = took === undefined ? failed("it had to be ended by a signal") : passed;
    return [this.#result(leaving, finding, first)];
  }

  #result(probe: Probe, finding: ProbeOutcome, first: number): ProbeResult {
    const last = this.#lastFrame;
    const verdict = finding.is === "failed" ? verdictOf(probe, finding, last, this.#revision) : undefined;
    return { probe, finding, frames: [first, last], verdict };
  }
}

/** The last probe: whether the server exits when its stdin ends. */
export const leaving: Probe = {
  id: "XS-1",
  level: byEra("may", "should"),
  demands: "A server exits when its stdin ends",
  sentence: byEra(
    "First, closing the input stream to the child process (the server) Waiting for the server to exit",
    "Servers SHOULD exit promptly when their standard input is closed or reads return end-of-file.",
  ),
  page: byEra("basic/lifecycle#shutdown", "basic/transports/stdio#shutdown"),
  ask: () => Promise.resolve(passed),
};
