import { listRoots } from "@parlance/mcp/server";
import { ask, prompt, textOf } from "./questions.js";

/** @import { InputRequestOf, FormResponse, Server } from "@parlance/mcp/server" */

/**
 * Tools that ask in rounds: the suite calls them in the stateless era, and reads the questions by their keys.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 *
 * @param {Server} server
 */
export function addInputRequiredTools(server) {
  server.tool(named("elicitation"), { description: "Asks your name" }, async (_args, context) => {
    const { user_name: name } = await context.requestInput({ user_name: ask("What is your name?", "name") });
    return `Hello, ${said(name, "name")}!`;
  });
  server.tool(named("sampling"), { description: "Asks a model" }, async (_args, context) => {
    const question = prompt("What is the capital of France?", 100);
    return textOf((await context.requestInput({ capital_question: question })).capital_question);
  });
  server.tool(named("list_roots"), { description: "Asks where it may work" }, async (_args, context) => {
    const { client_roots: list } = await context.requestInput({ client_roots: listRoots() });
    return `Roots: ${list.map(({ uri }) => uri).join(", ")}`;
  });
  server.tool(named("request_state"), { description: "Asks, and remembers" }, async (_args, context) => {
    const token = await context.once("token", () => crypto.randomUUID());
    const { confirm } = await context.requestInput({ confirm: ask("Please confirm", "ok", "boolean") });
    return `state-ok: ${confirm.action}, ${token}`;
  });
  server.tool(named("multiple_inputs"), { description: "Asks three things at once" }, async (_args, context) => {
    const { user_name, greeting, client_roots } = await context.requestInput({
      user_name: ask("What is your name?", "name"),
      greeting: prompt("Generate a greeting", 50),
      client_roots: listRoots(),
    });
    return `${textOf(greeting)} ${said(user_name, "name")} has ${client_roots.length} roots`;
  });
  server.tool(named("multi_round"), { description: "Asks one thing after the other" }, async (_args, context) => {
    const { step1 } = await context.requestInput({ step1: ask("Step 1: What is your name?", "name") });
    const { step2 } = await context.requestInput({ step2: ask("Step 2: What is your favorite color?", "color") });
    return `${said(step1, "name")} likes ${said(step2, "color")}`;
  });
  server.tool(named("tampered_state"), { description: "Asks, and trusts no state" }, async (_args, context) => {
    const { confirm } = await context.requestInput({ confirm: ask("Please confirm", "ok", "boolean") });
    return `Confirmed: ${confirm.action}`;
  });
  server.tool(named("capabilities"), { description: "Asks what you can answer" }, async (_args, context) => {
    const { elicitation, sampling } = context.client.capabilities;
    /** @type {Record<string, InputRequestOf<unknown>>} */
    const questions = {
      ...(elicitation && { user_name: ask("What is your name?", "name") }),
      ...(sampling && { greeting: prompt("Generate a greeting", 50) }),
    };
    return `Answered: ${Object.keys(await context.requestInput(questions)).join(", ")}`;
  });
}

/** @param {string} what */
function named(what) {
  return `test_input_required_result_${what}`;
}

/**
 * @param {FormResponse<Record<string, unknown>>} answer
 * @param {string} field
 */
function said({ action, content }, field) {
  return content === undefined ? `(${action})` : String(content[field]);
}
