import type { JSX } from "preact";
import { acting, actPanel, isActOpen } from "./act/act-state.js";
import { link } from "./connection.js";
import { Options } from "./controls.js";
import { FilterBar } from "./filter-bar.js";
import { bytesText, count } from "./format.js";
import { FrameList } from "./frame-list.js";
import { Icon } from "./icons.js";
import { Help, isHelpOpen } from "./keys.js";
import { heldMessages } from "./panels/intercept-state.js";
import { Panels } from "./panels/panels.js";
import { Player, ReplayedClient, togglePlayback } from "./player.js";
import {
  addFilter,
  announcement,
  failure,
  follows,
  open,
  panel,
  playback,
  readRecordings,
  recordings,
  toggleFollowing,
  view,
} from "./state.js";

/** The page. */
export function App(): JSX.Element {
  if (link.value === "no token") return <NoToken />;
  const shown = view.value;
  const Act = actPanel.value;
  return (
    <>
      <header class="top">
        <h1>parlance</h1>
        {shown !== undefined && <Summary />}
        {acting.value !== undefined && (
          <button type="button" aria-pressed={isActOpen.value} onClick={() => (isActOpen.value = !isActOpen.value)}>
            Server <kbd>t</kbd>
          </button>
        )}
        {shown !== undefined && (
          <button type="button" class="play" aria-pressed={playback.value !== undefined} onClick={togglePlayback}>
            Play <kbd>r</kbd>
          </button>
        )}
        <button type="button" class="help" onClick={() => (isHelpOpen.value = true)}>
          Keys <kbd>?</kbd>
        </button>
      </header>
      {link.value === "lost" && (
        <p class="notice" role="alert">
          The command that serves this page has ended, or cannot be reached. What is loaded stays; the page tries to
          connect again.
        </p>
      )}
      {failure.value !== undefined && (
        <p class="notice" role="alert">
          {failure.value}
        </p>
      )}
      {acting.value?.failure !== undefined && (
        <p class="notice" role="alert">
          The conversation failed: {acting.value.failure.says}{" "}
          <button type="button" onClick={() => (panel.value = "doctor")}>
            why <kbd>h</kbd>
          </button>
        </p>
      )}
      <FilterBar />
      <ReplayedClient />
      <Player />
      <div class="desk">
        {Act !== undefined && <Act />}
        <main>
          <FrameList />
          <Panels />
        </main>
      </div>
      <p class="unseen" aria-live="polite">
        {announcement.value}
      </p>
      <Help />
    </>
  );
}

function NoToken(): JSX.Element {
  return (
    <main class="alone">
      <h1>parlance</h1>
      <p>
        This page needs the address that the command has printed, with its token. Open that one, or run the command
        again:
      </p>
      <pre>parlance open</pre>
    </main>
  );
}

function Summary(): JSX.Element | null {
  const shown = view.value;
  if (shown === undefined) return null;
  const { recording, server, live, total, violations, pending, revisions } = shown;
  return (
    <div class="summary">
      <Recordings current={recording} />
      {server !== undefined && <code title={server}>{server}</code>}
      {revisions.length > 0 && <span>{revisions.join(", ")}</span>}
      <span>{count(total, "row")}</span>
      {live && (
        <button type="button" class="live" aria-pressed={follows.value} onClick={toggleFollowing}>
          live{follows.value ? ", following" : ""} <kbd>f</kbd>
        </button>
      )}
      {violations > 0 ? (
        <button type="button" class="must" onClick={() => addFilter("verdict:must")}>
          <Icon name="must" /> {count(violations, "violation")}
        </button>
      ) : (
        <span class="ok">no violation</span>
      )}
      {heldMessages.value.length > 0 && (
        <button type="button" class="pending" onClick={() => (panel.value = "intercept")}>
          {heldMessages.value.length} held <kbd>i</kbd>
        </button>
      )}
      {pending > 0 && (
        <button type="button" class="pending" onClick={() => (panel.value = "process")}>
          <Icon name="waits" /> {pending} without a response
        </button>
      )}
    </div>
  );
}

/** Switches to another recording. */
function Recordings({ current }: { readonly current: string }): JSX.Element {
  const others = recordings.value.filter(({ name }) => name !== current);
  if (others.length === 0) return <strong>{current}</strong>;
  const running = others.filter(({ live }) => live);
  const ended = others.filter(({ live }) => !live);
  return (
    <>
      <select
        aria-label="Recording"
        value={current}
        onFocus={() => void readRecordings()}
        onChange={({ currentTarget }) => void open(currentTarget.value)}
      >
        <option value={current}>{current}</option>
        {running.length > 0 && (
          <optgroup label="Running">
            <Options of={running.map(({ name }) => [name, name])} />
          </optgroup>
        )}
        <optgroup label="Earlier">
          <Options of={ended.map(({ name, bytes }) => [name, `${name} (${bytesText(bytes)})`])} />
        </optgroup>
      </select>
      {running.length > 0 && <span class="live">{running.length} more running</span>}
    </>
  );
}
