/**
 * The work of every contestant. The checks are by hand and the same for all, so that the figures compare
 * libraries and not validators.
 */

/**
 * @typedef {object} Tool
 * @property {Record<string, unknown>} inputSchema
 * @property {(args: any) => boolean} accepts
 * @property {(args: any) => { content: { type: "text", text: string }[] }} run
 * @property {boolean} [tells] where servers can: once, that the first of two steps is done. Each library has its own way.
 */

/** @type {Tool} */
const add = {
  inputSchema: objectSchema({ a: { type: "number" }, b: { type: "number" } }),
  accepts: (args) => isObject(args) && typeof args.a === "number" && typeof args.b === "number",
  run: ({ a, b }) => text(String(a + b)),
};

/** @type {ReadonlyMap<string, Tool>} */
export const tools = new Map([
  ["add", add],
  ["add-and-tell", { ...add, tells: true }],
  [
    "points",
    {
      inputSchema: objectSchema({ points: { type: "array", items: { type: "number" } } }),
      accepts: (args) => isObject(args) && Array.isArray(args.points) && args.points.every(isNumber),
      run: ({ points }) => text(`${points.length} points`),
    },
  ],
  [
    "echo",
    {
      inputSchema: objectSchema({ text: { type: "string" } }),
      accepts: (args) => isObject(args) && typeof args.text === "string",
      run: (args) => text(args.text),
    },
  ],
]);

/** `ping` of every contestant that has no ping of its own. */
export const ping = () => ({});

/**
 * `tools/call` of every contestant that knows nothing of tools.
 * @param {any} params
 */
export function callTool(params) {
  const tool = tools.get(params.name);
  if (tool === undefined || !tool.accepts(params.arguments)) throw new TypeError("Invalid params");
  return tool.run(params.arguments);
}

/**
 * The Standard Schema of a tool's arguments, for contestants that take one.
 * @param {Tool} tool
 */
export function standardSchema(tool) {
  const jsonSchema = () => tool.inputSchema;
  return {
    "~standard": {
      version: /** @type {const} */ (1),
      vendor: "bench",
      /** @param {unknown} value */
      validate: (value) => (tool.accepts(value) ? { value } : { issues: [{ message: "Invalid arguments" }] }),
      jsonSchema: { input: jsonSchema, output: jsonSchema },
    },
  };
}

/** @param {string} value */
function text(value) {
  return { content: [{ type: /** @type {const} */ ("text"), text: value }] };
}

/** @param {Record<string, object>} properties */
function objectSchema(properties) {
  return { type: "object", properties, required: Object.keys(properties) };
}

/**
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
function isObject(value) {
  return typeof value === "object" && value !== null;
}

/** @param {unknown} value */
function isNumber(value) {
  return typeof value === "number";
}
