import { RpcError } from "@parlance/mcp/jsonrpc";
import type { RecordingName } from "@parlance/web/protocol";
import type { Interrupt } from "../../shared/interrupt.js";
import { findRecording, listRecordings } from "../../shared/recordings/find-recording.js";
import { mayGrow } from "../../shared/recordings/live.js";
import { LiveRecording } from "./live-recording.js";

/** The maximum number of characters of an export. A page accepts messages of 32 MiB, in which characters may be escaped. */
const longestExport = 8 * 1024 * 1024;

/** The newest recordings, of which it is read whether they are live. */
const mostExamined = 50;

/** The recordings that pages of this process show. A page names one by its name only, never by a path. */
export class Recordings {
  /** The path of the recording that pages open first. */
  #first: string;
  readonly #interrupt: Interrupt;
  /** The path of the recording to compare the first one with. */
  readonly #before: string | undefined;
  readonly #open = new Map<string, LiveRecording>();

  /** @param before the recording to compare the first one with */
  constructor(first: string, interrupt: Interrupt, before?: string) {
    this.#first = first;
    this.#interrupt = interrupt;
    this.#before = before;
  }

  /** Whether there is a recording to compare the first one with. */
  get compares(): boolean {
    return this.#before !== undefined;
  }

  /** The recording to compare with, by name; without a name, that of the command line. @throws RpcError; Failure */
  async compared(name: string | undefined): Promise<LiveRecording | undefined> {
    if (name !== undefined) return this.open(name);
    return this.#before === undefined ? undefined : this.#loaded(this.#before);
  }

  /** The recording that pages open first. */
  get first(): LiveRecording {
    return this.#at(this.#first);
  }

  /** Makes a recording that will soon exist the first one that pages open. */
  follow(path: string): LiveRecording {
    this.#first = path;
    return this.first;
  }

  /** The existing recordings, newest first. */
  async list(): Promise<readonly RecordingName[]> {
    const known = await listRecordings(process.env);
    return Promise.all(
      known.map(async ({ path, name, changed, bytes }, place) => {
        const live = place < mostExamined && (await mayGrow(path, changed).catch(() => false)); // It was removed just now.
        return { name, changed, bytes, live };
      }),
    );
  }

  /** A recording, by its name. @throws RpcError for an unknown name; Failure for an unreadable file */
  async open(name: string | undefined): Promise<LiveRecording> {
    return this.#loaded(await this.#pathOf(name));
  }

  /**
   * A recording in a format of `parlance export`, with its secrets covered. @throws Failure; RpcError if the text is longer than
   * a page accepts
   */
  async export(name: string | undefined, to: string, filter: string): Promise<string> {
    const path = await this.#pathOf(name);
    const { exportedPieces } = await import("../export/command.js"); // Loaded on demand: most pages export nothing.
    let text = "";
    for await (const piece of await exportedPieces(path, { to, filter, redact: true }, this.#interrupt)) {
      text += piece;
      if (text.length > longestExport)
        throw new RpcError(413, "It is too long for the page: parlance export writes it to a file");
    }
    return text;
  }

  #at(path: string): LiveRecording {
    const known = this.#open.get(path) ?? new LiveRecording(path, this.#interrupt.stop);
    this.#open.set(path, known);
    return known;
  }

  async #loaded(path: string): Promise<LiveRecording> {
    const known = this.#at(path);
    await known.loaded;
    return known;
  }

  /** The path of a recording; without a name, of the first one. @throws RpcError for an unknown name */
  async #pathOf(name: string | undefined): Promise<string> {
    if (name === undefined) return this.#first;
    const open = [...this.#open].find(([, recording]) => recording.name === name);
    if (open !== undefined) return open[0];
    const known = (await listRecordings(process.env)).find((each) => each.name === name);
    if (known === undefined) throw new RpcError(404, `There is no recording ${name}`);
    return known.path;
  }

  /**
   * The recordings of a command line: the one to show, and the one to compare it with. @throws Failure if there is no such
   * recording
   */
  static async of(word: string, before: string | undefined, interrupt: Interrupt): Promise<Recordings> {
    const path = await findRecording(word, process.env);
    const earlier = before === undefined ? undefined : await findRecording(before, process.env);
    const recordings = new Recordings(path, interrupt, earlier);
    await Promise.all([recordings.open(undefined), recordings.compared(undefined)]);
    return recordings;
  }
}
