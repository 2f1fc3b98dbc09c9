import { accessRules } from "./authorization/access.js";
import { grantRules } from "./authorization/grants.js";
import { metadataRules } from "./authorization/metadata.js";
import { capabilityRules } from "./capabilities.js";
import { framingRules } from "./framing.js";
import { httpRules } from "./http.js";
import { httpHeaderRules } from "./http-headers.js";
import { informationRules } from "./information.js";
import { inputRules } from "./input-rounds.js";
import { jsonRpcRules } from "./json-rpc.js";
import { lifecycleRules } from "./lifecycle.js";
import { methodRules } from "./methods.js";
import { pairingRules } from "./pairing.js";
import { progressRules } from "./progress.js";
import type { MessageRule, Rule } from "./rule.js";
import { shapeRules } from "./shapes.js";
import { statelessRules } from "./stateless.js";
import { subscriptionRules } from "./subscriptions.js";
import { toolRules } from "./tools.js";
import { utilityRules } from "./utilities.js";

const messageRules: readonly MessageRule[] = [
  ...jsonRpcRules,
  ...pairingRules,
  ...lifecycleRules,
  ...statelessRules,
  ...methodRules,
  ...shapeRules,
  ...capabilityRules,
  ...toolRules,
  ...progressRules,
  ...inputRules,
  ...subscriptionRules,
  ...utilityRules,
];

/** Every rule, from the bytes to the messages to the conversation. */
export const rules: readonly Rule[] = [
  ...framingRules,
  ...messageRules.map((rule) => ({ ...rule, on: "message" }) as const),
  ...httpRules,
  ...httpHeaderRules,
  ...accessRules,
  ...metadataRules,
  ...grantRules,
  ...informationRules,
];
