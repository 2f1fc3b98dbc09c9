import { isObject, methods } from "@parlance/mcp/protocol";
import type { RecordedOperation, WireMessage } from "@parlance/wire";
import { usageFailure } from "../../shared/failure.js";
import { escapeHidden } from "../../shared/output/json-lines.js";
import { carried } from "../replay/client-player.js";
import { chosenOperations, commandOf, type Exported } from "./exported.js";

/** A vitest file that sends the recorded requests and expects the recorded results. */
export function toVitest(exported: Exported): string {
  const { header, title } = exported;
  const command = commandOf(header);
  if (command === undefined)
    throw usageFailure(
      `${title} is not a recording of a command, so a test cannot start the server`,
      "export -T curl, or -T har",
    );
  const operations = chosenOperations(exported);
  const asked = operations.filter(({ request }) => request.from === "server");
  const [program = "", ...args] = command;
  const lines = said(exported, operations);
  // Text of peers is in string literals only.
  return escapeHidden(`import { openConnection } from "@parlance/mcp/jsonrpc";
import { childChannel } from "@parlance/mcp/node";
import { expect, test } from "vitest";

const server = ${literal({ command: program, args })};
${asked.length === 0 ? "" : `\n${answersText(asked)}\n`}
test(${JSON.stringify(`the server answers as recorded in ${title}`)}, async () => {
  await using connection = openConnection(childChannel(server)${asked.length === 0 ? "" : ", { handle: answer }"});
${lines.map((line) => (line === "" ? "" : `  ${line.replaceAll("\n", "\n  ")}`)).join("\n")}
});
`);
}

/** The client's responses to the server's requests, in order, by method. */
function answersText(asked: readonly RecordedOperation[]): string {
  const recorded = new Map<string, unknown[]>();
  for (const { request, answer } of asked) {
    const { method = "" } = request;
    recorded.set(method, [...(recorded.get(method) ?? []), answer?.member("result") ?? {}]);
  }
  return `/** The client's recorded responses to the server's requests, in order. */
const answers: Record<string, object[]> = ${literal(Object.fromEntries(recorded))};

function answer(method: string): object {
  return answers[method]?.shift() ?? {};
}`;
}

function said({ rows }: Exported, operations: readonly RecordedOperation[]): readonly string[] {
  const byRequest = new Map(operations.map((operation) => [operation.request, operation]));
  const names = new Map<unknown, string>();
  const messages = rows.flatMap((row) => row.messages).filter(({ from }) => from === "client");
  return messages.flatMap((message): readonly string[] => {
    const operation = byRequest.get(message);
    if (message.kind === "ntf") return [`connection.notify(${call(message, names)});`];
    return operation === undefined ? [] : callLines(operation, names);
  });
}

function callLines({ request, answer }: RecordedOperation, names: Map<unknown, string>): readonly string[] {
  const called = `connection.call(${call(request, names)})`;
  // A request that was never answered is sent, and its response is not awaited.
  if (answer === undefined) return [`void ${called}.catch(() => undefined);`];
  const error = answer.member("error");
  if (isObject(error))
    return [`await expect(${called}).rejects.toMatchObject(${literal({ code: error.code, message: error.message })});`];
  const result = answer.member("result");
  const states = carried.filter(({ result: name }) => isObject(result) && typeof result[name] === "string");
  if (states.length === 0 || !isObject(result))
    return [`expect(await ${called}).toEqual(${expected(result, request)});`];
  const variable = `result${request.frame.n}`;
  for (const { result: name } of states) names.set(result[name], `${variable}.${name}`);
  return [
    `const ${variable} = (await ${called}) as { ${states.map(({ result: name }) => `${name}: string`).join("; ")} };`,
    `expect(${variable}).toEqual(${expected(result, request)});`,
  ];
}

function call({ method = "", params }: WireMessage, names: ReadonlyMap<unknown, string>): string {
  if (Object.keys(params).length === 0) return JSON.stringify(method);
  let text = literal(params);
  for (const { param } of carried) {
    const name = names.get(params[param]);
    if (name !== undefined) text = text.replace(`"${param}": ${JSON.stringify(params[param])}`, `"${param}": ${name}`);
  }
  return `${JSON.stringify(method)}, ${text}`;
}

/** A result as the test expects it: an opaque value matches any string. */
function expected(result: unknown, { method }: WireMessage): string {
  let text = literal(result);
  if (!isObject(result)) return text;
  for (const { result: name } of carried)
    if (typeof result[name] === "string")
      text = text.replace(`"${name}": ${JSON.stringify(result[name])}`, `"${name}": expect.any(String)`);
  return method === methods.initialize || method === methods.discover ? `expect.objectContaining(${text})` : text;
}

function literal(value: unknown): string {
  return JSON.stringify(value, undefined, 2) ?? "undefined";
}
