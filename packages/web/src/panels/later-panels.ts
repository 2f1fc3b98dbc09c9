import { ComparePanel } from "./compare-panel.js";
import { ContractPanel } from "./contract-panel.js";
import { CostPanel } from "./cost-panel.js";
import { DoctorPanel } from "./doctor-panel.js";
import { InterceptPanel } from "./intercept-panel.js";
import { ProcessPanel } from "./process-panel.js";

/** The panels that the page does not show first, in a script of their own. */
export const laterPanels = {
  compare: ComparePanel,
  contract: ContractPanel,
  cost: CostPanel,
  doctor: DoctorPanel,
  intercept: InterceptPanel,
  process: ProcessPanel,
};
