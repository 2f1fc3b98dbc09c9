import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { call } from "./connection.js";
import { secondsText } from "./format.js";
import { duration, follows, playback, selectPlace, view } from "./state.js";

/** Recorded time per time that passes. */
const speeds = [0.1, 0.25, 1, 4, 16] as const;

const speed = signal<number>(1);

/** Whether the time passes. */
const isRunning = signal(false);

/** The longest silence of a playback, in milliseconds that pass; a longer one is cut short. */
const longestSilence = 1_000;

/** The steps of the slider. */
const steps = 200;

/** Begins to play the recording back, or ends it: all rows show again. */
export function togglePlayback(): void {
  if (playback.value === undefined) {
    follows.value = false;
    void seek(0);
    isRunning.value = true;
    requestAnimationFrame(() => document.getElementById("playback")?.focus());
  } else {
    isRunning.value = false;
    playback.value = undefined;
  }
}

/** Shows the rows until a time, in milliseconds; gives the time of the next row, if there is one. */
async function seek(at: number): Promise<number | undefined> {
  const wasOpen = playback.value !== undefined;
  const found = await call("until", { at }).catch(() => undefined); // The connection shows that it is lost.
  // It may have been closed meanwhile.
  if (found === undefined || (wasOpen && playback.value === undefined)) return undefined;
  const before = playback.value?.count;
  playback.value = { at, count: found.count };
  if (found.count !== before) void selectPlace(found.count - 1);
  return found.next;
}

/** Lets the time pass until the last row. Returns a function that stops it. */
function run(): () => void {
  let isOver = false;
  let last = performance.now();
  const step = async (): Promise<void> => {
    const now = performance.now();
    const at = (playback.value?.at ?? 0) + (now - last) * speed.value;
    last = now;
    const next = await seek(Math.min(at, duration.value));
    if (isOver) return;
    if (next === undefined) isRunning.value = false;
    else {
      const soonest = next - longestSilence * speed.value;
      if (playback.value !== undefined && playback.value.at < soonest)
        playback.value = { ...playback.value, at: soonest };
      requestAnimationFrame(() => void step());
    }
  };
  void step();
  return () => {
    isOver = true;
  };
}

/** Plays the recording back: its rows appear by their times. */
export function Player(): JSX.Element | null {
  const isOpen = playback.value !== undefined;
  const runs = isRunning.value;
  useEffect(() => (isOpen && runs ? run() : undefined), [isOpen, runs]);
  if (playback.value === undefined) return null;
  const { at } = playback.value;
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
        onInput={({ currentTarget }) => {
          isRunning.value = false;
          // The last step of the slider is rounded, and must not miss the last rows.
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
      <button type="button" onClick={togglePlayback}>
        close
      </button>
    </section>
  );
}
