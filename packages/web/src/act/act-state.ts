import { ExactNumber } from "@parlance/mcp/jsonrpc";
import { isObject } from "@parlance/mcp/protocol";
import { scanJson } from "@parlance/wire";
import { batch, computed, effect, signal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { call, messageOf, tryCall } from "../connection.js";
import { bytesOf } from "../json/json-pane.js";
import type { ActMethods, PageActing, PageCall, PageFault, PageOffer, PageRequest, PageResult } from "../protocol.js";
import { announcement, focusOn, follows, frame, openNext, selectedFrame, view } from "../state.js";
import { isGroup, membersOf, readText, startOfMembers, unreadableIn } from "./fields.js";

/** The connected server; undefined if the page only shows recordings. */
export const acting = signal<PageActing | undefined>(undefined);
/** Its tools, resources and prompts. */
export const offers = signal<readonly PageOffer[]>([]);
/** Whether the panel is open. */
export const isActOpen = signal(false);
/** The panel that acts on the server; undefined until its script is loaded. */
export const actPanel = signal<FunctionComponent | undefined>(undefined);

/** Loads the script of the panel, once. A page that only shows recordings never needs it. */
async function load(): Promise<void> {
  const { ActPanel } = await import("./act-panel.js");
  actPanel.value = ActPanel;
}

/** Opens the panel, and focuses an element of it. */
export function focusInPanel(selector: string): void {
  isActOpen.value = true;
  if (actPanel.value === undefined) void load().then(() => focusOn(selector));
  else focusOn(selector);
}

/** The search text among the offers. */
export const sought = signal("");
/** Why the last request failed. */
export const actFailure = signal<string | undefined>(undefined);

const chosenKey = signal<string | undefined>(undefined);
/** The entered arguments, by the keys of the offers. */
const drafts = signal<ReadonlyMap<string, unknown>>(new Map());
/** The faults of the arguments of the chosen offer, and the command line that sends them. */
export const checked = signal<{ readonly faults: readonly PageFault[]; readonly command: string | undefined }>({
  faults: [],
  command: undefined,
});
/** The key of the call whose result shows, and the result. */
const shownCall = signal<number | undefined>(undefined);
export const result = signal<PageResult | undefined>(undefined);

function keyOf({ kind, name }: PageOffer): string {
  return `${kind} ${name}`;
}

/** Whether a text has all words of the search. */
export function isFound(text: string): boolean {
  const lower = text.toLowerCase();
  const words = sought.value.toLowerCase().split(/\s+/);
  return words.every((word) => lower.includes(word));
}

/** The offers that match the search. */
export const found = computed(() =>
  offers.value.filter(({ name, title = "", description = "" }) => isFound(`${name} ${title} ${description}`)),
);

/** The offer whose form shows. */
export const chosen = computed(() => offers.value.find((offer) => keyOf(offer) === chosenKey.value));

/** The arguments of the chosen offer. */
export const draft = computed(() => {
  const offer = chosen.value;
  if (offer === undefined) return {};
  const known = drafts.value.get(keyOf(offer));
  if (known !== undefined) return known;
  const { schema } = offer;
  return startOfMembers(membersOf(schema), schema);
});

/** The call whose result shows. */
export const shown = computed(() => acting.value?.calls.find(({ key }) => key === shownCall.value));

let offersRead = -1;

/** Takes the state of the server; null without one. */
export function takeActing(state: PageActing | null): void {
  if (state !== null && acting.value === undefined) isActOpen.value = matchMedia("(min-width: 75rem)").matches;
  if (state !== null) void load();
  const known = new Set(acting.value?.inputs.map(({ key }) => key));
  const asked = state?.inputs.some(({ key }) => !known.has(key)) === true;
  const before = acting.value?.recording;
  acting.value = state ?? undefined;
  if (before !== undefined && state !== null && state.recording !== before) void openNext();
  if (asked) {
    isActOpen.value = true;
    announcement.value = "the server asks for input";
  }
  if (state === null || state.offers === offersRead) return;
  offersRead = state.offers;
  void call("offers", {}).then((read) => {
    offers.value = read;
  }, fail);
}

/** Reads the state of the server. */
export async function readActing(): Promise<void> {
  offersRead = -1;
  takeActing(await call("acting", {}));
}

function fail(error: unknown): void {
  actFailure.value = messageOf(error);
}

/** Starts the checks of `parlance doctor`. */
export function examine(): void {
  call("examine", {}).catch(fail);
}

/** Shows the form of an offer, or the list of all offers. */
export function choose(offer: PageOffer | undefined): void {
  batch(() => {
    edited.value = undefined;
    written.value = undefined;
    chosenKey.value = offer && keyOf(offer);
    checked.value = { faults: [], command: undefined };
    actFailure.value = undefined;
    const last = acting.value?.calls.find(({ about }) => about === offer?.name);
    shownCall.value = undefined;
    if (last !== undefined) void show(last);
  });
  void check();
}

/** Changes the arguments of the chosen offer. */
export function enter(args: unknown): void {
  const offer = chosen.value;
  if (offer === undefined) return;
  written.value = undefined;
  drafts.value = new Map([...drafts.value, [keyOf(offer), args]]);
  void check();
}

/** The arguments as they are written as JSON, with their white space; undefined if they were entered in another way. */
export const written = signal<string | undefined>(undefined);

/** Changes the arguments of the chosen offer by their JSON. */
export function enterJson(text: string): void {
  enter(readText("json", text) ?? {});
  written.value = text;
}

async function check(): Promise<void> {
  const [offer, value] = [chosen.value, draft.value];
  const args = sendable(value);
  if (offer?.kind !== "tool" || args === undefined) return;
  try {
    const read = await call("check", { tool: offer.name, args });
    if (offer === chosen.value && value === draft.value) checked.value = read;
  } catch (error) {
    fail(error);
  }
}

/** The arguments if they can be sent: an object without unreadable texts. */
function sendable(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return isGroup(value) && unreadableIn(value) === undefined ? value : undefined;
}

/** A request before it is sent. */
export interface Drafted {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** The request of the chosen offer with its arguments; undefined while a field cannot be read. */
export const drafted = computed(() => {
  const offer = chosen.value;
  const args = sendable(draft.value);
  return offer && args && requestOf(offer, args);
});

/** Makes the request of the chosen offer with its arguments. */
export async function send(): Promise<void> {
  const { method, params } = drafted.value ?? {};
  if (method === undefined || params === undefined) return fail(new Error("a field cannot be read: see below it"));
  await request(method, params);
}

function requestOf({ kind, name }: PageOffer, args: Readonly<Record<string, unknown>>): Drafted {
  if (kind === "tool") return { method: "tools/call", params: { name, arguments: args } };
  if (kind === "prompt") return { method: "prompts/get", params: { name, arguments: args } };
  return { method: "resources/read", params: { uri: kind === "template" ? expanded(name, args) : name } };
}

/** Expands a URI template (the part of RFC 6570 that servers use). */
function expanded(template: string, values: Readonly<Record<string, unknown>>): string {
  return template.replace(/\{([+#./;?&]?)([^}]+)\}/g, (_, operator: string, list: string) => {
    const isPlain = operator === "+" || operator === "#";
    const texts = list.split(",").map((each) => {
      const name = each.replace(/[*:].*$/, "");
      const text = String(values[name] ?? "");
      const value = isPlain ? encodeURI(text) : encodeURIComponent(text);
      return operator === "?" || operator === "&" || operator === ";" ? `${name}=${value}` : value;
    });
    const between = { "": ",", "+": ",", "#": ",", "?": "&" }[operator] ?? operator;
    return `${operator === "+" ? "" : operator}${texts.join(between)}`;
  });
}

/** Makes a request, and shows its result when it comes, unless another form shows by then. */
async function request(method: string, params: Readonly<Record<string, unknown>>): Promise<void> {
  actFailure.value = undefined;
  const [offer, isEdited] = [chosenKey.value, edited.value !== undefined];
  try {
    const key = await call("request", { method, params });
    if (offer === chosenKey.value && isEdited === (edited.value !== undefined)) await showResult(key);
  } catch (error) {
    fail(error);
  }
}

/** A message that is being edited, to send it again. */
export interface Edited {
  /** The name of its file, or the number of its frame. */
  readonly from: string;
  /** The method and the params, as indented JSON. */
  readonly text: string;
  /** The frame as written. */
  readonly raw: string;
  /** Whether the bytes are sent unchanged. */
  readonly isRaw: boolean;
  /** Whether a newline ends them. */
  readonly ends: boolean;
}

export const edited = signal<Edited | undefined>(undefined);

/** Whether the selected frame can be edited and sent again. */
export const editable = computed(() => {
  const { row, bytes } = frame.value ?? {};
  return acting.value?.phase === "open" && row?.from === "client" && bytes !== undefined && row.n !== undefined;
});

/** Opens the editor with the selected frame. */
export async function edit(): Promise<void> {
  const read = await selectedFrame();
  const { row, bytes } = read ?? {};
  if (!editable.value || row?.n === undefined || bytes === undefined) return;
  const raw = new TextDecoder().decode(bytesOf(read));
  openEditor({ from: `frame ${row.n}`, raw, text: messageText(raw), isRaw: row.kind !== "req" });
  focusInPanel("#edited");
}

/** Opens a saved request: in the form of its tool, resource or prompt, or else in the editor. */
export function openRequest({ name, method, params }: Exclude<PageRequest, { fault: string }>): void {
  const { name: tool, uri, arguments: args = {}, ...more } = params;
  const isPlain = Object.keys(more).length === 0 && isGroup(args);
  const offer = offers.value.find(
    (each) => requestOf(each, {}).method === method && each.kind !== "template" && each.name === (tool ?? uri),
  );
  if (offer !== undefined && isPlain) {
    drafts.value = new Map([...drafts.value, [keyOf(offer), args]]);
    choose(offer);
    return;
  }
  const raw = ExactNumber.stringify({ jsonrpc: "2.0", id: name, method, params });
  openEditor({ from: `@${name}`, raw, text: ExactNumber.stringify({ method, params }, 2), isRaw: false });
}

function openEditor(message: Omit<Edited, "ends">): void {
  batch(() => {
    actFailure.value = undefined;
    shownCall.value = undefined;
    edited.value = { ...message, ends: true };
  });
}

/** The method and the params of a request. The client writes the other members. */
function messageText(raw: string): string {
  const message = readText("json", raw);
  if (!isObject(message)) return raw;
  const { jsonrpc: _, id: __, params, ...rest } = message;
  if (params === undefined) return ExactNumber.stringify(rest, 2);
  return ExactNumber.stringify({ ...rest, params: isGroup(params) ? withoutOwnMeta(params) : params }, 2);
}

/** Params without the members of `_meta` that the client writes. */
function withoutOwnMeta({ _meta: meta, ...others }: Readonly<Record<string, unknown>>): object {
  const entries = Object.entries(isObject(meta) ? meta : {});
  const kept = entries.filter(([name]) => !/^(?:progressToken$|io\.modelcontextprotocol\/)/.test(name));
  return kept.length === 0 ? others : { ...others, _meta: Object.fromEntries(kept) };
}

/** The edited message as a request, or why it is not one. */
export const message = computed(() => {
  const { text = "", isRaw = true } = edited.value ?? {};
  if (isRaw) return undefined;
  const scan = scanJson(new TextEncoder().encode(text));
  if (!scan.ok) return { fault: `not JSON: ${scan.fault.says}` };
  const value = ExactNumber.parse(text);
  if (!isObject(value) || typeof value.method !== "string") return { fault: "a request has a method: send it raw" };
  const { method, params = {} } = value;
  if (!isGroup(params)) return { fault: "params is not an object: send it raw" };
  return { method, params };
});

/** The schema of the params of the edited message, if its tool has one. */
export const editedSchema = computed((): Readonly<Record<string, unknown>> => {
  const { method, params } = message.value ?? {};
  const tools = offers.value.filter(({ kind }) => kind === "tool");
  const tool = tools.find(({ name }) => name === params?.name);
  const known = method === "tools/call" ? { name: { enum: tools.map(({ name }) => name) } } : {};
  return {
    properties: {
      method: {
        enum: ["tools/call", "tools/list", "resources/read", "resources/list", "prompts/get", "prompts/list", "ping"],
      },
      params: { type: "object", properties: { ...known, ...(tool && { arguments: tool.schema }) } },
    },
    type: "object",
    // References in the schema of the tool begin at its own root.
    $defs: tool?.schema.$defs,
    definitions: tool?.schema.definitions,
  };
});

/** The faults of the arguments in the edited message, by the schema of the tool. */
export const editedFaults = signal<readonly PageFault[]>([]);

effect(() => {
  const { method, params } = message.value ?? {};
  const read = message.value;
  editedFaults.value = [];
  if (method !== "tools/call" || typeof params?.name !== "string" || !isGroup(params.arguments)) return;
  void tryCall("check", { tool: params.name, args: params.arguments }).then((found) => {
    if (found === undefined || read !== message.value) return;
    editedFaults.value = found.faults.map(({ path, message }) => ({ path: `/params/arguments${path}`, message }));
  });
});

/** Sends the edited message: as a request of the client, or as it is. */
export async function resend(): Promise<void> {
  const { isRaw, raw, ends } = edited.value ?? {};
  if (!isRaw) {
    const { method, params } = message.value ?? {};
    if (method !== undefined && params !== undefined) await request(method, params);
    return;
  }
  actFailure.value = undefined;
  try {
    await call("sendRaw", { text: `${raw}${ends ? "\n" : ""}` });
    follows.value = view.value?.live === true;
    announcement.value = "sent unchanged: the response is shown in the list";
  } catch (error) {
    fail(error);
  }
}

/** Shows the result of a call. */
export async function show({ key }: PageCall): Promise<void> {
  await showResult(key).catch(fail);
}

async function showResult(key: number): Promise<void> {
  batch(() => {
    shownCall.value = key;
    result.value = undefined;
  });
  const read = await call("result", { key });
  if (shownCall.value === key) result.value = read;
}

/** Cancels a call that runs. */
export function cancel({ key }: PageCall): void {
  void call("cancel", { key }).catch(fail);
}

/** Calls a method that acts on the server; the panel shows why it has failed. */
export async function act<Name extends "answer" | "listAgain" | "reconnect" | "setRoots" | "subscribe">(
  method: Name,
  params: Parameters<ActMethods[Name]>[0],
): Promise<void> {
  actFailure.value = undefined;
  await call(method, params).catch(fail);
}

/** Completions of an argument of the chosen prompt or template. */
export async function complete(argument: string, value: string): Promise<readonly string[]> {
  const offer = chosen.value;
  if (offer?.kind !== "prompt" && offer?.kind !== "template") return [];
  const texts = Object.entries(draft.value ?? {}).filter(([name, each]) => name !== argument && each !== "");
  const settled = Object.fromEntries(texts.map(([name, each]) => [name, String(each)]));
  return await call("complete", { kind: offer.kind, name: offer.name, argument, value, settled });
}
