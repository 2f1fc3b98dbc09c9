import type { JSX } from "preact";
import { acting } from "../act/act-state.js";
import { FrameDetail } from "../frame-detail.js";
import { type PanelName, panel } from "../state.js";
import { ComparePanel } from "./compare-panel.js";
import { ContractPanel } from "./contract-panel.js";
import { CostPanel } from "./cost-panel.js";
import { DoctorPanel } from "./doctor-panel.js";
import { InterceptPanel } from "./intercept-panel.js";
import { interception } from "./intercept-state.js";
import { ProcessPanel } from "./process-panel.js";
import { TimelinePanel } from "./timeline-panel.js";

interface Panel {
  readonly name: PanelName;
  readonly title: string;
  readonly key: string;
  readonly show: () => JSX.Element;
}

/** The panels of the lower half of the page. */
export const panels: readonly Panel[] = [
  { name: "frame", title: "Frame", key: "d", show: FrameDetail },
  { name: "timeline", title: "Timeline", key: "l", show: TimelinePanel },
  { name: "contract", title: "Contract", key: "c", show: ContractPanel },
  { name: "compare", title: "Compare", key: "v", show: ComparePanel },
  { name: "cost", title: "Cost", key: "$", show: CostPanel },
  { name: "process", title: "Process", key: "p", show: ProcessPanel },
  { name: "doctor", title: "Doctor", key: "h", show: DoctorPanel },
  { name: "intercept", title: "Intercept", key: "i", show: InterceptPanel },
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
