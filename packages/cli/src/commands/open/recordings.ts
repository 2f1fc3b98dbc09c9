import { RpcError } from "@parlance/mcp/jsonrpc";
import type { RecordingName } from "@parlance/web/protocol";
import { findRecording, listRecordings } from "../../shared/recordings/find-recording.js";
import { LiveRecording } from "./live-recording.js";

/** The recordings that pages of this process show. A page names one by its name only, never by a path. */
export class Recordings {
  /** The path of the recording that pages open first. */
  readonly #first: string;
  readonly #stop: AbortSignal;
  readonly #open = new Map<string, LiveRecording>();

  constructor(first: string, stop: AbortSignal) {
    this.#first = first;
    this.#stop = stop;
  }

  /** The recordings that there are, newest first. */
  async list(): Promise<readonly RecordingName[]> {
    const known = await listRecordings(process.env);
    return known.map(({ name, changed, bytes }) => ({ name, changed, bytes }));
  }

  /** A recording, by its name. @throws RpcError for a name that is unknown; Failure for a file that cannot be read */
  async open(name: string | undefined): Promise<LiveRecording> {
    const path = name === undefined ? this.#first : await this.#pathOf(name);
    const known = this.#open.get(path) ?? new LiveRecording(path, this.#stop);
    this.#open.set(path, known);
    await known.loaded;
    return known;
  }

  async #pathOf(name: string): Promise<string> {
    const open = [...this.#open].find(([, recording]) => recording.name === name);
    if (open !== undefined) return open[0];
    const known = (await listRecordings(process.env)).find((each) => each.name === name);
    if (known === undefined) throw new RpcError(404, `There is no recording ${name}`);
    return known.path;
  }

  /** The recordings of a command line. @throws Failure if there is no such recording */
  static async of(word: string, stop: AbortSignal): Promise<Recordings> {
    const recordings = new Recordings(await findRecording(word, process.env), stop);
    await recordings.open(undefined);
    return recordings;
  }
}
