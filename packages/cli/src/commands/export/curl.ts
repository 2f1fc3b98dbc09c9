import type { Row } from "@parlance/wire";
import { shellWord } from "../../shared/output/shell-word.js";
import { commandOf, type Exported, urlOf } from "./exported.js";

type HttpExchange = NonNullable<Row["exchange"]>;

/** Headers that curl writes itself, or that belong to one connection. */
const own = new Set(["host", "content-length", "connection", "transfer-encoding", "accept-encoding", "user-agent"]);

/** Shell commands that send the client's messages again: curl for HTTP, a pipe for a process. */
export function* toCurl(exported: Exported): Generator<string> {
  const exchanges = [...new Set(exported.rows.flatMap(({ exchange }) => (exchange === undefined ? [] : [exchange])))];
  for (const [at, each] of exchanges.entries()) yield `${at === 0 ? "" : "\n"}${curl(each, exported)}`;
  if (exchanges.length === 0) yield* pipe(exported);
}

function curl(exchange: HttpExchange, { header }: Exported): string {
  const { request, frames } = exchange;
  const { method = "GET", headers = [] } = request;
  const body = frames.filter(({ from }) => from === "client").map(({ bytes }) => bytes);
  const words: readonly (readonly (string | Uint8Array)[])[] = [
    ["curl", "-sS", "-N", "-X", method, urlOf(exchange, header)],
    ...headers.filter(([name]) => !own.has(name.toLowerCase())).map(([name, value]) => ["-H", `${name}: ${value}`]),
    ...body.map((each) => ["--data-raw", each]),
  ];
  return `${coveredNote(headers, body)}${words.map((line) => line.map(shellWord).join(" ")).join(" \\\n  ")}\n`;
}

/** A comment that names the covered headers: the command may lack a token, for instance. */
function coveredNote(headers: readonly (readonly [string, string])[], body: readonly Uint8Array[]): string {
  const names = headers.filter(([, value]) => value.includes(cover)).map(([name]) => name.replace(/[^\w-]/g, "?"));
  const all = body.some((each) => Buffer.from(each).includes(cover)) ? [...names, "parts of the body"] : names;
  return all.length === 0 ? "" : `# Covered: ${all.join(", ")}. Write your own in place of ${cover}.\n`;
}

/** Replaces three bytes of a secret. */
const cover = "█";

function* pipe(exported: Exported): Generator<string> {
  const frames = exported.rows.flatMap(({ frame }) => (frame?.from === "client" ? [frame] : []));
  const command = commandOf(exported.header) ?? ["server"];
  yield "printf '%s\\n' \\\n";
  for (const [at, frame] of frames.entries()) {
    yield `${at === 0 ? "" : " \\\n"}  ${shellWord(frame.bytes)}`;
  }
  yield ` \\\n  | ${command.map(shellWord).join(" ")}\n`;
}
