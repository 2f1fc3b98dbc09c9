import { escapeControls } from "@parlance/mcp/jsonrpc";
import { isObject } from "@parlance/mcp/protocol";
import { bytesOf, latencyOf, type Row, sizeOf, targetOf, type WireMessage } from "@parlance/wire";
import { ruleWords } from "../../shared/output/conversation-rows.js";
import { bytesText, durationText } from "../../shared/output/quantities.js";
import { indentedLines } from "../recordings/frame-detail.js";

/** The texts of a row, all safe to print. */
type RowWords = Readonly<Record<"n" | "time" | "from" | "kind" | "what" | "latency" | "size", string>>;

/** The text of a row, in the columns of every list of rows. */
export function rowWords(row: Row): RowWords {
  const { n, at, from, kind, messages } = row;
  const [message] = messages;
  const latency = message && latencyOf(message);
  const size = sizeOf(row);
  return {
    n: n === undefined ? "" : String(n),
    time: at.toFixed(3),
    from: from === undefined ? "" : from === "client" ? "client →" : "server ←",
    kind,
    what: escapeControls(messages.length > 0 ? messages.map(messageWords).join(", ") : restWords(row)).slice(
      0,
      longest,
    ),
    latency: latency === undefined ? "" : durationText(latency),
    size: size === undefined ? "" : bytesText(size),
  };
}

const longest = 300;

function messageWords(message: WireMessage): string {
  const { kind, method, concerns, params, result } = message;
  if (kind === "req" || kind === "ntf")
    return [method, targetOf(params)].filter((part) => part !== undefined).join(" ");
  const about = concerns?.request;
  const answered = about === undefined ? "" : ` to ${messageWords(about)}`;
  const error = message.member("error");
  if (kind === "err") return `error${answered}: ${isObject(error) ? `${error.code} ${error.message}` : "of no shape"}`;
  if (kind === "res") return `result${answered}${result?.isError === true ? ": isError" : ""}`;
  return "no message";
}

function restWords({ entry, frame }: Row): string {
  switch (entry.k) {
    case "f":
      return decode(frame?.bytes);
    case "e":
      return decode(bytesOf(entry));
    case "h":
      return [entry.ph, entry.method, entry.url, entry.status, entry.why]
        .filter((part) => part !== undefined)
        .join(" ");
    case "l":
      return [entry.ev, entry.d, entry.code === undefined ? undefined : `code ${entry.code}`, entry.sig, entry.why]
        .filter((part) => part !== undefined && part !== null)
        .join(" ");
    case "gap":
      return `${entry.lost} lost: ${entry.why}`;
    case "r":
      return ruleWords(entry);
    case "a":
      return entry.text;
    default:
      return "";
  }
}

function decode(bytes: Uint8Array = new Uint8Array(0)): string {
  return new TextDecoder().decode(bytes.subarray(0, longest)).trimEnd();
}

/** A frame as indented JSON with its original spelling; undefined if it is not JSON. Control characters of a plain frame stay. */
export function prettyFrame({ json, bytes }: WireMessage["frame"]): string | undefined {
  if (json.isPlain) return JSON.stringify(json.value, undefined, 2);
  if (json.root === undefined) return undefined;
  return indentedLines(json.root, bytes)
    .map(({ text }) => text)
    .join("\n");
}
