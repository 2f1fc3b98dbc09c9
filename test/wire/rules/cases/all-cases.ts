import type { RuleCase } from "../rule-case.js";
import { authorizationCases } from "./authorization-cases.js";
import { capabilitiesCases } from "./capabilities-cases.js";
import { flowsCases } from "./flows-cases.js";
import { framingCases } from "./framing-cases.js";
import { httpCases } from "./http-cases.js";
import { informationCases } from "./information-cases.js";
import { jsonRpcCases } from "./json-rpc-cases.js";
import { lifecycleCases } from "./lifecycle-cases.js";
import { methodsCases } from "./methods-cases.js";
import { statelessCases } from "./stateless-cases.js";
import { toolsCases } from "./tools-cases.js";

/** A transcript that breaks, and one that keeps, for every rule. */
export const cases: readonly RuleCase[] = [
  ...framingCases,
  ...jsonRpcCases,
  ...lifecycleCases,
  ...statelessCases,
  ...methodsCases,
  ...capabilitiesCases,
  ...toolsCases,
  ...flowsCases,
  ...httpCases,
  ...authorizationCases,
  ...informationCases,
];
