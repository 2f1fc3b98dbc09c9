import type { Rule } from "../rule.js";
import { framingRules } from "./framing.js";
import { jsonRpcRules } from "./json-rpc.js";
import { pairingRules } from "./pairing.js";

/** Every rule, in the order in which a person meets them: bytes, messages, conversation. */
export const rules: readonly Rule[] = [...framingRules, ...jsonRpcRules, ...pairingRules];
