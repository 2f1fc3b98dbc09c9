import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { link, tryCall } from "./connection.js";
import { Options } from "./controls.js";
import { secondsText, shellWord } from "./format.js";
import type { PageMethods, PageReplay } from "./protocol.js";
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
  const found = await tryCall("until", { at });
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

/** The replayed client; undefined if there is none. */
const replay = signal<PageReplay | undefined>(undefined);

/** Milliseconds between two looks at the clock of a replayed client. */
const lookAgain = 100;

/** Changes how the client is replayed, or only reads its state. */
async function drive(change: Parameters<PageMethods["replay"]>[0]): Promise<void> {
  replay.value = (await tryCall("replay", change)) ?? undefined;
}

/** The controls of a recorded client that is played to a live server. Its time moves only ahead: what was sent stays sent. */
export function ReplayedClient(): JSX.Element | null {
  const isOpen = link.value === "open";
  const isOver = replay.value?.isOver;
  useEffect(() => {
    if (isOpen) void drive({});
  }, [isOpen]);
  useEffect(() => {
    if (!isOpen || isOver !== false) return undefined;
    const timer = setInterval(() => void drive({}), lookAgain);
    return () => clearInterval(timer);
  }, [isOpen, isOver]);
  if (replay.value === undefined) return null;
  const { at, until, runs, speed: times } = replay.value;
  return (
    <section class="player" aria-label="Replayed client">
      <b>replayed client</b>
      <button type="button" disabled={isOver === true} onClick={() => void drive({ runs: !runs })}>
        {runs ? "pause" : "play"}
      </button>
      <input
        type="range"
        aria-label="Time of the recorded client"
        min={0}
        max={Math.max(1, until)}
        step="any"
        value={at}
        disabled={isOver === true}
        aria-valuetext={`${secondsText(at)} s`}
        onInput={({ currentTarget }) => void drive({ at: currentTarget.valueAsNumber })}
      />
      <output>
        {isOver === true
          ? "everything is sent"
          : `${secondsText(at).slice(0, -3)} of ${secondsText(until).slice(0, -3)} s`}
      </output>
      <Speeds value={times} isDisabled={isOver === true} onChange={(chosen) => void drive({ speed: chosen })} />
    </section>
  );
}

function Speeds({
  value,
  isDisabled = false,
  onChange,
}: {
  readonly value: number;
  readonly isDisabled?: boolean;
  readonly onChange: (speed: number) => void;
}): JSX.Element {
  const all = [...new Set([...speeds, value])].toSorted((a, b) => a - b);
  return (
    <label>
      Speed{" "}
      <select
        value={value}
        disabled={isDisabled}
        onChange={({ currentTarget }) => onChange(Number(currentTarget.value))}
      >
        <Options of={all.map((each) => [each, each === 0 ? "no pauses" : `${each}×`])} />
      </select>
    </label>
  );
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
      <Speeds value={speed.value} onChange={(chosen) => (speed.value = chosen)} />
      <button type="button" popovertarget="peers">
        to a live peer
      </button>
      <div id="peers" popover="auto">
        <p>The recording as the server of a client, such as this page:</p>
        <pre class="block">{`parlance run --ui -- parlance replay ${recorded} --as server --speed 1`}</pre>
        <p>The recording as the client of a server:</p>
        <pre class="block">{`parlance replay ${recorded} --as client --ui -- node server.js`}</pre>
      </div>
      <button type="button" onClick={togglePlayback}>
        close
      </button>
    </section>
  );
}
