import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { CheckReport } from "@parlance/wire";
import { numberedPath } from "../../shared/recorder/recording-name.js";
import { nameOfRecording } from "../../shared/recordings/find-recording.js";
import { FollowedFile } from "../../shared/recordings/live.js";
import { TailedRecording, type TailView } from "../../shared/recordings/tailed-recording.js";

/** Milliseconds between two reads of the files. */
const pause = 50;

/** The most reads for a frame that is on its way into the file. */
const mostTries = 20;

/** Shows the recordings of one run while they are written. A restarted server gets another one. */
export class FollowedRecordings {
  readonly #path: string;
  readonly #view: TailView;
  readonly #followed: { readonly path: string; readonly file: FollowedFile; readonly recording: TailedRecording }[] =
    [];
  readonly #timer: NodeJS.Timeout;
  #reading: Promise<void> = Promise.resolve();
  /** Whether the files are closed, or about to be. */
  #isOver = false;

  constructor(path: string, view: TailView) {
    this.#path = path;
    this.#view = view;
    this.#timer = setInterval(() => this.#read(), pause);
  }

  /** The report of each recording, as `parlance check` makes it. */
  get reports(): readonly CheckReport[] {
    return this.#followed.map(({ path, recording }) => recording.report(path));
  }

  /** Resolves when the frame with the input request is shown; after a second, or at the end of the run, in any case. */
  async untilAsked(): Promise<void> {
    for (let tries = 0; tries < mostTries && !this.#isOver; tries += 1) {
      this.#read();
      await this.#reading;
      if (this.#followed.at(-1)?.recording.endsWithQuestion === true) return;
      await sleep(pause);
    }
  }

  /** Shows the remaining rows, and closes the files. */
  async end(): Promise<void> {
    this.#isOver = true;
    clearInterval(this.#timer);
    await this.#reading;
    await this.#look();
    for (const { file } of this.#followed) await file.close();
  }

  #read(): void {
    this.#reading = this.#reading.then(() => this.#look());
  }

  async #look(): Promise<void> {
    const next = numberedPath(this.#path, this.#followed.length + 1);
    if (existsSync(next)) await this.#open(next);
    for (const { file, recording } of this.#followed) {
      for await (const item of file.read()) recording.take(item);
    }
  }

  async #open(path: string): Promise<void> {
    const recording = new TailedRecording(nameOfRecording(path), this.#view);
    this.#followed.push({ path, file: await FollowedFile.open(path), recording });
  }
}
