// Re-exported because the specification has its own names for JSON types (`JSONObject`).
export { isObject, type JsonObject } from "../base/json.js";
