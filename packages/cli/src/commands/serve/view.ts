import { relative, resolve } from "node:path";
import { exitCodes } from "../../shared/exit-codes.js";
import { Failure } from "../../shared/failure.js";
import { cut, visibleLines } from "../../shared/output/columns.js";
import { jsonLine } from "../../shared/output/json-lines.js";
import { printFailure } from "../../shared/output/print-failure.js";
import type { Output } from "../../shared/output/terminal.js";
import type { ServeEvent } from "./supervisor.js";
import type { WorkerReport } from "./worker-report.js";

/** What `parlance serve` shows, and how. */
export interface ServeViewOptions {
  readonly path: string;
  readonly output: Output;
  readonly json: boolean;
  readonly watch: boolean;
}

/** Shows what becomes of a module that is served. */
export function serveView(options: ServeViewOptions): (event: ServeEvent) => void {
  const { output, json, path } = options;
  const { style, print } = output;
  if (json) return (event) => print(jsonLine(event));
  let starts = 0;
  return (event) => {
    switch (event.kind) {
      case "ready":
        starts += 1;
        print(
          ...(starts === 1 ? introduction(event, options) : [`${style.green("✔")} ${title(event)} is served again`]),
        );
        return;
      case "failed": {
        const { message, seen, remedy } = event;
        const details = { exitCode: exitCodes.unreachable, seen };
        printFailure(new Failure(message, remedy === undefined ? details : { ...details, remedy }), output);
        print(style.dim(`  waiting for ${path} to change`));
        return;
      }
      case "changed":
        print(style.dim(`${cut(relative("", event.file), output.width - 20)} has changed`));
        return;
      case "exited":
        print(`${style.red("✖")} ${path} ${event.how}`, style.dim("  waiting for it to change"));
        return;
    }
  };
}

type Ready = Extract<WorkerReport, { kind: "ready" }>;

function title({ name, version }: Ready): string {
  return visibleLines(`${name} ${version}`).join(" ");
}

function introduction(ready: Ready, { output, path, watch }: ServeViewOptions): readonly string[] {
  const { style } = output;
  const { name, http } = ready;
  const first = `${style.green("✔")} ${style.bold(title(ready))}`;
  const watched = watch ? [style.dim(`  it is served anew when ${path} changes, or what it imports`)] : [];
  const entries = (entry: object): readonly string[] => [
    `  ${style.dim("VS Code, .vscode/mcp.json")}  ${jsonLine({ servers: { [name]: entry } })}`,
    `  ${style.dim("Cursor, .cursor/mcp.json")}   ${jsonLine({ mcpServers: { [name]: entry } })}`,
    ...watched,
    style.dim("  Ctrl-C ends it"),
  ];
  if (http !== undefined) return [`${first} at ${style.cyan(http.url)}`, ...entries({ type: "http", url: http.url })];
  // A host knows how it has started it, and keeps what it says on stderr as a log.
  if (process.stdin.isTTY !== true) return watch ? [`${first} on stdin and stdout`, ...watched] : [];
  const args = ["serve", resolve(path)];
  return [`${first} waits for a host on stdin`, ...entries({ command: "parlance", args })];
}
