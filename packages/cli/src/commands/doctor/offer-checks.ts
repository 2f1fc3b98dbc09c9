import { LocalError, RpcError } from "@parlance/mcp/client";
import { codes, escapeControls } from "@parlance/mcp/jsonrpc";
import { isObject, type JsonObject } from "@parlance/mcp/protocol";
import { compile } from "@parlance/mcp/schema";
import { awaitAftermath } from "../../shared/client/converse.js";
import { type OfferedList, readList } from "../../shared/client/exercise.js";
import { brokenByServer } from "../../shared/client/live-conversation.js";
import { exitCodes } from "../../shared/exit-codes.js";
import { lineFeedRemedy, messageOf, remedyForSigns } from "../../shared/failure.js";
import { verdictText } from "../../shared/output/conversation-rows.js";
import { type CheckResult, failed } from "./check.js";
import type { Examined } from "./examined.js";

const mostShown = 5;

/** The capabilities that the server declares. */
export async function capabilitiesResult(examined: Examined): Promise<CheckResult> {
  const { capabilities, info } = (await examined.client()).server;
  const names = Object.entries(capabilities).map(([name, value]) => capabilityText(name, value));
  const notes = info === undefined ? ["serverInfo with name and version is missing"] : [];
  if (names.length > 0) return { state: "ok", says: names.join(", "), notes };
  const remedy = "declare tools, resources or prompts: clients do not list what is not declared";
  return { state: "absent", says: "none is declared", notes: [...notes, remedy] };
}

function capabilityText(name: string, value: unknown): string {
  const parts = isObject(value) ? Object.keys(value).filter((key) => value[key] !== false) : [];
  return parts.length === 0 ? name : `${name} (${parts.join(", ")})`;
}

/** Checks that the server answers a list, if it advertises it, with valid names and usable schemas. */
export async function listResult(examined: Examined, list: OfferedList): Promise<CheckResult> {
  const client = await examined.client();
  if (client.server.capabilities[list.capability] === undefined) return { state: "absent", says: "not offered" };
  const items: unknown[] = [];
  try {
    const stopped = await readList(client, list, { signal: examined.stop }, (item) => items.push(item));
    const amount = `${items.length} ${items.length === 1 ? list.name.slice(0, -1) : list.name}`;
    if (stopped !== undefined) return failed(`${amount}, and ${stopped}`, endRemedy, exitCodes.violations);
    const faults = itemFaults(list, items);
    if (faults.length === 0) return { state: "ok", says: amount, notes: itemNotes(list, items) };
    const remedy = "models and hosts rely on names and schemas: invalid items are ignored, or break the whole list";
    return { ...failure(amount, faults), remedy, exitCode: exitCodes.violations };
  } catch (error) {
    const isUnknown = error instanceof RpcError && error.code === codes.methodNotFound;
    if (isUnknown && list.name === "templates") return { state: "absent", says: "not offered" };
    const { message, seen, remedy = explained(error), exitCode } = examined.observed.failure(error, "open");
    const isLate = error instanceof LocalError && error.reason === "timeout";
    const mend = `answer ${list.method}, or do not declare ${list.capability}`;
    // Without a sign of what is wrong, a timeout that is too short is the rarer cause, so it comes second.
    const isOnlyLate = isLate && remedy !== undefined && remedyForSigns(message) === undefined;
    const advice = isUnknown ? mend : isOnlyLate ? `${mend}; ${remedy}` : remedy;
    const code = error instanceof RpcError ? exitCodes.violations : exitCode;
    const isOver = error instanceof LocalError && error.reason === "closed";
    return { state: "failed", says: message, seen, exitCode: code, remedy: advice, ...(isOver && { isFatal: true }) };
  }
}

const endRemedy = "the last page has no nextCursor, and every other one a new one";

function explained(error: unknown): string | undefined {
  return error instanceof RpcError ? `parlance explain ${error.code} says more` : undefined;
}

function failure(what: string, faults: readonly string[]): Pick<CheckResult, "state" | "says" | "seen"> {
  const more = faults.length > mostShown ? [`… and ${faults.length - mostShown} more`] : [];
  return { state: "failed", says: `${what}, not all valid`, seen: [...faults.slice(0, mostShown), ...more] };
}

/** The member that identifies an item of each list. */
const keys: Readonly<Record<OfferedList["name"], string>> = {
  tools: "name",
  resources: "uri",
  templates: "uriTemplate",
  prompts: "name",
};

function itemFaults(list: OfferedList, items: readonly unknown[]): readonly string[] {
  const seen = new Set<unknown>();
  return items.flatMap((item, index) => {
    const key = isObject(item) ? item[keys[list.name]] : undefined;
    if (!isObject(item) || typeof key !== "string" || key === "")
      return [`item ${index}: it has no ${keys[list.name]}`];
    const name = escapeControls(key);
    const twice = seen.has(key) ? [`${name}: duplicate`] : [];
    seen.add(key);
    return [...twice, ...(list.name === "tools" ? schemaFaults(name, item) : [])];
  });
}

function schemaFaults(name: string, { inputSchema, outputSchema }: JsonObject): readonly string[] {
  return [
    ...schemaFault(`${name}: inputSchema`, inputSchema, "object"),
    ...(outputSchema === undefined ? [] : schemaFault(`${name}: outputSchema`, outputSchema, undefined)),
  ];
}

function schemaFault(what: string, schema: unknown, root: "object" | undefined): readonly string[] {
  if (!isObject(schema)) return [`${what} is ${schema === undefined ? "missing" : "no object"}`];
  try {
    compile(schema, { trust: "peer", ...(root !== undefined && { root }) });
    return [];
  } catch (error) {
    return [`${what}: ${messageOf(error)}`];
  }
}

/** Notes on names that do not follow the recommendations of the specification. */
function itemNotes({ name: list }: OfferedList, items: readonly unknown[]): readonly string[] {
  if (list !== "tools") return [];
  const tools = items.filter(isObject);
  const odd = tools.filter(({ name }) => typeof name === "string" && !/^[A-Za-z0-9_.-]{1,128}$/.test(name));
  const mute = tools.filter(({ description }) => typeof description !== "string" || description.trim() === "");
  return [
    ...note(odd, "names should be 1 to 128 letters, digits, _, - and ."),
    ...note(mute, "without a description a model cannot know what a tool is for"),
  ];
}

function note(tools: readonly JsonObject[], why: string): readonly string[] {
  if (tools.length === 0) return [];
  const names = tools.slice(0, mostShown).map(({ name }) => String(name));
  return [`${why}: ${names.join(", ")}${tools.length > mostShown ? ", …" : ""}`];
}

/** Checks that all messages of the server so far conform to the revision. */
export async function messagesResult(examined: Examined): Promise<CheckResult> {
  const { revision: version } = await examined.client();
  await awaitAftermath(examined.stop);
  const first = examined.firstAnswer?.entry.n ?? 0;
  const faults = examined.frames
    .filter(({ entry }) => entry.n >= first)
    .flatMap((row) =>
      brokenByServer(row).map((verdict) => `frame ${row.entry.n}: ${verdict.rule.id} ${verdictText(verdict)}`),
    );
  const { frames } = examined.observed.conversation.tally;
  const { unfinished } = examined.observed;
  if (unfinished !== undefined) faults.push(`S-1 ${unfinished.bytes} bytes of a message, and no line feed`);
  if (faults.length === 0 && !(await examined.answersZero()))
    return failed(
      "a request with the id 0 has no response",
      "a message is a notification if its id is undefined: 0 is an id, and clients on the official SDK begin with it",
      exitCodes.violations,
    );
  if (faults.length === 0) return { state: "ok", says: `${frames} frames, each as ${version} has it`, took: 0 };
  const remedy = unfinished === undefined ? "parlance talk shows these frames" : lineFeedRemedy;
  return { ...failure(`${frames} frames`, faults), remedy, exitCode: exitCodes.violations, took: 0 };
}

/** Checks that a started command exits when its stdin ends. */
export async function endResult(examined: Examined): Promise<CheckResult> {
  const before = examined.observed.ended;
  if (before !== undefined) return { state: "absent", says: `${before}, before its input ended` };
  await examined.close();
  const { ended = "is gone" } = examined.observed;
  if (ended.startsWith("exited with code 0")) return { state: "ok", says: `${ended} when its input ended` };
  const notes = ["hosts may take a code other than 0 for a crash"];
  if (ended.startsWith("exited")) return { state: "ok", says: `${ended} when its input ended`, notes };
  return failed(ended, "exit when stdin ends: otherwise the process may outlive its host", exitCodes.violations);
}
