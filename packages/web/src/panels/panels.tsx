import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { acting } from "../act/act-state.js";
import { FrameDetail } from "../frame-detail.js";
import { type PanelName, panel } from "../state.js";
import { interception } from "./intercept-state.js";
import type { laterPanels } from "./later-panels.js";
import { TimelinePanel } from "./timeline-panel.js";

interface Panel {
  readonly name: PanelName;
  readonly title: string;
  readonly key: string;
  readonly show: () => JSX.Element;
}

type LaterPanels = typeof laterPanels;

/** The panels of a script of their own; undefined until the first of them shows. */
const loaded = signal<LaterPanels | undefined>(undefined);

/** Resolves when a panel can show. */
export async function loadPanel(name: PanelName): Promise<void> {
  if (name === "frame" || name === "timeline" || loaded.value !== undefined) return;
  loaded.value = (await import("./later-panels.js")).laterPanels;
}

/** A panel whose script is loaded when it shows: the page is there sooner without it. */
function later(name: keyof LaterPanels): () => JSX.Element {
  return function LaterPanel() {
    useEffect(() => void loadPanel(name), []);
    const Shown = loaded.value?.[name];
    return Shown === undefined ? <section class="panel" /> : <Shown />;
  };
}

/** The panels of the lower half of the page. */
export const panels: readonly Panel[] = [
  { name: "frame", title: "Frame", key: "d", show: FrameDetail },
  { name: "timeline", title: "Timeline", key: "l", show: TimelinePanel },
  { name: "contract", title: "Contract", key: "c", show: later("contract") },
  { name: "compare", title: "Compare", key: "v", show: later("compare") },
  { name: "cost", title: "Cost", key: "$", show: later("cost") },
  { name: "process", title: "Process", key: "p", show: later("process") },
  { name: "doctor", title: "Doctor", key: "h", show: later("doctor") },
  { name: "intercept", title: "Intercept", key: "i", show: later("intercept") },
];

/** The lower half of the page: the selected frame, or facts about the whole recording. */
export function Panels(): JSX.Element {
  const Shown = panels.find(({ name }) => name === panel.value)?.show ?? FrameDetail;
  // Only a command that is connected to a server can examine it, and only one that forwards its messages can hold them.
  const offered = panels.filter(
    ({ name }) =>
      (name !== "doctor" || acting.value !== undefined) && (name !== "intercept" || interception.value !== undefined),
  );
  return (
    <div class="lower">
      <nav class="tabs" aria-label="Panels">
        {offered.map(({ name, title, key }) => (
          <button key={name} type="button" aria-pressed={name === panel.value} onClick={() => (panel.value = name)}>
            {title} <kbd>{key}</kbd>
          </button>
        ))}
      </nav>
      <Shown />
    </div>
  );
}
