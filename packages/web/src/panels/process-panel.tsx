import type { JSX } from "preact";
import { bytesText, secondsText } from "../format.js";
import { Icon } from "../icons.js";
import type { PageOrigin, PageProcess } from "../protocol.js";
import { type FactRow, Facts, FrameLink, useFacts } from "./facts.js";

/** The process of the server: how it was started, how it ended, and its last output on stderr. The panel stays after the end. */
export function ProcessPanel(): JSX.Element {
  const { origin, processes = [] } = useFacts("processes") ?? {};
  return (
    <section class="panel" aria-label="Process" tabIndex={0}>
      {processes.map((each) => (
        <Process key={each.session} shown={each} isOnly={processes.length === 1} />
      ))}
      {origin !== undefined && <Facts rows={originRows(origin)} />}
    </section>
  );
}

function originRows({ mode, command, cwd, envNames, url, host, recorder, startedOn }: PageOrigin): readonly FactRow[] {
  return [
    ["command", command],
    ["URL", url],
    ["folder", cwd],
    ["recorded", [mode, recorder, startedOn].filter((each) => each !== undefined).join(" · ")],
    ["started by", host],
    ["environment", envNames.length === 0 ? undefined : envNames.join(", ")],
  ];
}

interface ProcessOptions {
  readonly shown: PageProcess;
  readonly isOnly: boolean;
}

function Process({ shown, isOnly }: ProcessOptions): JSX.Element {
  const { session, pid, startedAt, stdinEndedAt, signals, unanswered, stderr, stderrBytes } = shown;
  const at = (time: number | undefined): string | undefined =>
    time === undefined ? undefined : `at ${secondsText(time)} s`;
  const rows: readonly FactRow[] = [
    ["pid", pid?.toString()],
    ["started", at(startedAt)],
    ["stdin closed", at(stdinEndedAt)],
    ["signals", signals.length === 0 ? undefined : signals.join(", ")],
  ];
  return (
    <article>
      {!isOnly && <h2>session {session}</h2>}
      <p class="state">
        <State shown={shown} />
      </p>
      <Facts rows={rows} />
      {unanswered.length > 0 && (
        <ul class="pending">
          {unanswered.slice(0, 10).map(({ n, method, reason }) => (
            <li key={n}>
              <Icon name="waits" /> <code>{method}</code> <FrameLink n={n} /> {reason}
            </li>
          ))}
        </ul>
      )}
      <h2>stderr, {bytesText(stderrBytes)}</h2>
      {stderr.map(({ n, at: time, text }) => (
        <p key={n} class="piece">
          <FrameLink n={n} /> <span>{secondsText(time)}</span> <code>{text}</code>
        </p>
      ))}
    </article>
  );
}

/** Whether it runs, or how it ended. */
function State({ shown: { startedAt, failure, end } }: { readonly shown: PageProcess }): JSX.Element {
  if (failure !== undefined) return <b class="must">could not be started: {failure}</b>;
  if (end === undefined) return <>{startedAt === undefined ? "was not started by the recorder" : "runs"}</>;
  const { n, at, code, signal } = end;
  const how = signal === undefined ? `exited with code ${code ?? "unknown"}` : `ended by ${signal}`;
  return (
    <>
      <b class={code === 0 ? "ok" : "must"}>{how}</b> at {secondsText(at)} s <FrameLink n={n} />
    </>
  );
}
