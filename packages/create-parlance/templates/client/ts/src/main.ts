import { createInterface } from "node:readline";
import { callTool, open, toolLines } from "./client.ts";
import { formHandlers } from "./form.ts";

const [target, tool, args = "{}"] = process.argv.slice(2);
if (target === undefined) {
  console.error('Usage: my-project <url or "command args…"> [tool] [\'{"arguments":"as JSON"}\']');
  process.exit(1);
}

const input = createInterface({ input: process.stdin });
const typed = input[Symbol.asyncIterator]();

/** Prints a question, and reads a line; undefined at the end of the input. */
async function ask(question: string): Promise<string | undefined> {
  process.stderr.write(question);
  const { value, done } = await typed.next();
  return done === true ? undefined : value;
}

try {
  const client = await open(target, formHandlers(ask));
  console.error(`Connected to ${client.server.info?.name ?? target}, in revision ${client.revision}`);
  const lines = tool === undefined ? await toolLines(client) : [await callTool(client, tool, JSON.parse(args))];
  console.log(lines.join("\n"));
  await client.close();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  input.close();
}
