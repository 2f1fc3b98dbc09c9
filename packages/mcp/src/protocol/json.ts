// The specification has its own words for JSON (`JSONObject`); folders that see the protocol find them here.
export { isObject, type JsonObject } from "../base/json.js";
