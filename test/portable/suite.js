import { jsonRpc } from "./cases/json-rpc.js";
import { requestState } from "./cases/request-state.js";
import { schemas } from "./cases/schemas.js";
import { sessions } from "./cases/sessions.js";
import { tools } from "./cases/tools.js";

/** The cases that load on every platform; those of `cases/node.js` need Node's modules to load. */
export const suite = [...jsonRpc, ...sessions, ...schemas, ...requestState, ...tools];
