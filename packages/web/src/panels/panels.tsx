import type { JSX } from "preact";
import { FrameDetail } from "../frame-detail.js";
import { type PanelName, panel } from "../state.js";
import { ContractPanel } from "./contract-panel.js";
import { CostPanel } from "./cost-panel.js";
import { ProcessPanel } from "./process-panel.js";

interface Panel {
  readonly name: PanelName;
  readonly title: string;
  readonly key: string;
  readonly show: () => JSX.Element;
}

/** What the lower half of the page can show. */
export const panels: readonly Panel[] = [
  { name: "frame", title: "Frame", key: "d", show: FrameDetail },
  { name: "contract", title: "Contract", key: "c", show: ContractPanel },
  { name: "cost", title: "Cost", key: "$", show: CostPanel },
  { name: "process", title: "Process", key: "p", show: ProcessPanel },
];

/** The lower half of the page: the selected frame, or facts about the whole recording. */
export function Panels(): JSX.Element {
  const Shown = panels.find(({ name }) => name === panel.value)?.show ?? FrameDetail;
  return (
    <div class="lower">
      <nav class="tabs" aria-label="Panels">
        {panels.map(({ name, title, key }) => (
          <button key={name} type="button" aria-pressed={name === panel.value} onClick={() => (panel.value = name)}>
            {title} <kbd>{key}</kbd>
          </button>
        ))}
      </nav>
      <Shown />
    </div>
  );
}
