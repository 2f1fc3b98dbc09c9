import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { call } from "./connection.js";
import { secondsText, shellWord } from "./format.js";
import { duration, focusOn, follows, playback, selectPlace, view } from "./state.js";

/** The available factors of the recorded speed. */
const speeds = [0.1, 0.25, 1, 4, 16] as const;

const speed = signal<number>(1);

/** Whether the playback is running. */
const isRunning = signal(false);

/** The longest pause of a playback, in real milliseconds; longer ones are shortened. */
const longestSilence = 1_000;

/** The number of steps of the slider. */
const steps = 200;

/** Starts the playback, or ends it, so that all rows are shown again. */
export function togglePlayback(): void {
  if (playback.value === undefined) {
    follows.value = false;
    playback.value = { at: 0, count: 1 };
    void selectPlace(0);
    isRunning.value = true;
    focusOn("#playback");
  } else {
    isRunning.value = false;
    playback.value = undefined;
  }
}

/** Shows the rows up to a time in milliseconds. Resolves to the time of the next row; undefined without one. */
async function seek(at: number): Promise<number | undefined> {
  const count = playback.value?.count ?? 1;
  // The slider stands where it was put, although the rows come later.
  playback.value = { at, count };
  const found = await call("until", { at }).catch(() => undefined); // The connection shows that it is lost.
  // It may have been closed, or put elsewhere, meanwhile.
  if (found === undefined || playback.value?.at !== at) return undefined;
  playback.value = { at, count: found.count };
  if (found.count !== count) void selectPlace(found.count - 1);
  return found.next;
}

/** Advances the time up to the last row. Returns a function that stops this. */
function run(): () => void {
  let isOver = false;
  let last = performance.now();
  const step = async (): Promise<void> => {
    if (isOver || playback.value === undefined) return;
    const now = performance.now();
    const at = playback.value.at + (now - last) * speed.value;
    last = now;
    // The slider stops it, also while an answer is under way.
    const next = isRunning.value ? await seek(Math.min(at, duration.value)) : undefined;
    if (isRunning.value && playback.value !== undefined) {
      if (next === undefined) isRunning.value = false;
      else playback.value = { ...playback.value, at: Math.max(playback.value.at, next - longestSilence * speed.value) };
    }
    requestAnimationFrame(() => void step());
  };
  void step();
  return () => {
    isOver = true;
  };
}

/** The controls of the playback, in which rows appear at their times. */
export function Player(): JSX.Element | null {
  const isOpen = playback.value !== undefined;
  const runs = isRunning.value;
  useEffect(() => (isOpen && runs ? run() : undefined), [isOpen, runs]);
  if (playback.value === undefined) return null;
  const { at } = playback.value;
  const recorded = view.value === undefined ? "last" : shellWord(view.value.recording);
  const isAtEnd = at >= duration.value;
  const step = duration.value / steps;
  return (
    <section class="player" aria-label="Playback">
      <button
        type="button"
        onClick={() => {
          if (isAtEnd) void seek(0);
          isRunning.value = !runs;
        }}
      >
        {runs ? "pause" : "play"}
      </button>
      <input
        id="playback"
        type="range"
        aria-label="Time of the recording"
        min={0}
        max={duration.value}
        step={step}
        value={at}
        aria-valuetext={`${secondsText(at)} s`}
        onKeyDown={({ key }) => {
          // A slider that is at its end already says nothing of these keys.
          if (key !== "Home" && key !== "End") return;
          isRunning.value = false;
          void seek(key === "Home" ? 0 : duration.value);
        }}
        onInput={({ currentTarget }) => {
          isRunning.value = false;
          // The last step of the slider is rounded, but must include the last rows.
          const { valueAsNumber: chosen } = currentTarget;
          void seek(chosen > duration.value - step / 2 ? duration.value : chosen);
        }}
      />
      <output>
        {secondsText(at).slice(0, -3)} of {secondsText(view.value?.until ?? 0).slice(0, -3)} s
      </output>
      <label>
        Speed{" "}
        <select value={speed.value} onChange={({ currentTarget }) => (speed.value = Number(currentTarget.value))}>
          {speeds.map((each) => (
            <option key={each} value={each}>
              {each}×
            </option>
          ))}
        </select>
      </label>
      <button type="button" popovertarget="peers">
        to a live peer
      </button>
      <div id="peers" popover="auto">
        <p>The recording as the server of a client, such as this page:</p>
        <pre class="block">{`parlance run --ui -- parlance replay ${recorded} --as server --speed 1`}</pre>
        <p>The recording as the client of a server:</p>
        <pre class="block">{`parlance replay ${recorded} --as client -- parlance tap --ui -- node server.js`}</pre>
      </div>
      <button type="button" onClick={togglePlayback}>
        close
      </button>
    </section>
  );
}
