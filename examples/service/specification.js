import { expected } from "@parlance/mcp/jsonrpc";
import { numbers } from "./numbers.js";

/** @import { Params, Service } from "@parlance/mcp/jsonrpc" */

const journalLength = 100;

/**
 * The methods that the examples of the specification call: https://www.jsonrpc.org/specification#examples
 *
 * @param {Service} service
 */
export function addSpecificationMethods(service) {
  /** @type {unknown[]} */
  const journal = [];

  /** @param {string} what */
  const note = (what) => (/** @type {Params | undefined} */ params) => {
    journal.push({ [what]: params });
    if (journal.length > journalLength) journal.shift();
  };

  service
    .method("subtract", ({ minuend, subtrahend }) => minuend - subtrahend, numbers("minuend", "subtrahend"))
    .method("sum", (/** @type {number[]} */ terms) => terms.reduce((sum, term) => sum + term, 0), { check: checkTerms })
    .method("get_data", () => ["hello", 5])
    // The examples only ever notify of these. Notifications have no response, so look for them in the journal.
    .method("update", note("update"))
    .method("notify_hello", note("notify_hello"))
    .method("notify_sum", note("notify_sum"))
    .method("journal", () => journal);
}

/** @param {unknown} terms */
function checkTerms(terms) {
  if (!Array.isArray(terms)) return [{ path: "", message: "expected numbers, by position" }];
  return terms.flatMap((term, index) => (typeof term === "number" ? [] : [expected("a number", index, term)]));
}
