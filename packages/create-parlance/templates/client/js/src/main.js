import { createInterface } from "node:readline/promises";
import { callTool, open, toolLines } from "./client.js";
import { formHandlers } from "./form.js";

const [target, tool, args = "{}"] = process.argv.slice(2);
if (target === undefined) {
  console.error('Usage: my-project <url or "command args…"> [tool] [\'{"arguments":"as JSON"}\']');
  process.exit(1);
}

const terminal = createInterface({ input: process.stdin, output: process.stderr });
try {
  const client = await open(
    target,
    formHandlers((question) => terminal.question(question)),
  );
  console.error(`Connected to ${client.server.info?.name ?? target}, in revision ${client.revision}`);
  const lines = tool === undefined ? await toolLines(client) : [await callTool(client, tool, JSON.parse(args))];
  console.log(lines.join("\n"));
  await client.close();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  terminal.close();
}
