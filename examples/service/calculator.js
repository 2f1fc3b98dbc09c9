import { expected, RpcError } from "@parlance/mcp/jsonrpc";
import { numbers } from "./numbers.js";

/** @import { Exchange, Service } from "@parlance/mcp/jsonrpc" */

/** An application chooses its codes outside of -32768 to -32000, which JSON-RPC has reserved. */
const divisionByZero = 1001;

/** @param {Service} service */
export function addCalculator(service) {
  service
    .method("calculator.add", ({ a, b }) => a + b, numbers("a", "b"))
    .method("calculator.multiply", ({ a, b }) => a * b, numbers("a", "b"))
    .method("calculator.divide", divide, numbers("a", "b"))
    .method("calculator.primes", countPrimes, { params: ["below"], check: checkBelow });
}

/** @param {{ a: number, b: number }} params */
function divide({ a, b }) {
  if (b === 0) throw new RpcError(divisionByZero, "Division by zero", { dividend: a });
  return a / b;
}

/**
 * How many primes there are: slow, so that there is something to cancel.
 *
 * @param {{ below: number }} params
 * @param {Exchange} exchange
 */
async function countPrimes({ below }, { signal }) {
  let count = 0;
  for (let number = 2; number < below; number += 1) {
    // A pause now and then, in which other calls are answered, and in which the news of a cancellation can arrive.
    if (number % 1_000 === 0) await new Promise((resolve) => setTimeout(resolve));
    signal.throwIfAborted();
    if (isPrime(number)) count += 1;
  }
  return count;
}

/** @param {number} number */
function isPrime(number) {
  for (let divisor = 2; divisor * divisor <= number; divisor += 1) if (number % divisor === 0) return false;
  return true;
}

/** @param {{ below: unknown }} params */
function checkBelow({ below }) {
  const fits = typeof below === "number" && below <= 10_000_000;
  return fits ? [] : [expected("a number up to 10000000", "below", below)];
}
