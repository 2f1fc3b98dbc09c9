import { createService } from "@parlance/mcp/jsonrpc";
import { addCalculator } from "./calculator.js";
import { addSpecificationMethods } from "./specification.js";
import { addUsers } from "./users.js";

/** Everything that this example serves. */
export function createExampleService() {
  const service = createService();
  addSpecificationMethods(service);
  addCalculator(service);
  addUsers(service);
  return service;
}
