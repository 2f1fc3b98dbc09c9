import { scanJson } from "@parlance/wire";
import { batch, computed, signal } from "@preact/signals";
import { call, messageOf, tryCall } from "../connection.js";
import type { PageFate, PageHeld, PageInterception, PageRule } from "../protocol.js";
import { announcement, view } from "../state.js";

/** Breakpoints, faults and held messages; undefined if the page only shows recordings. */
export const interception = signal<PageInterception | undefined>(undefined);
/** Why the last action failed. */
export const interceptFailure = signal<string | undefined>(undefined);
/** The frames that each rule was applied to. */
export const touched = signal<ReadonlyMap<string, readonly number[]>>(new Map());

/** The messages that were released here: the command says so later. */
const released = signal<ReadonlySet<number>>(new Set());

/** The messages that are held, oldest first. */
export const heldMessages = computed(
  () => interception.value?.held.filter(({ key }) => !released.value.has(key)) ?? [],
);

const shownKey = signal<number | undefined>(undefined);
/** The held message that is shown. */
export const shownHeld = computed(
  () => heldMessages.value.find(({ key }) => key === shownKey.value) ?? heldMessages.value[0],
);

/** The kinds of texts of an edited message: the message itself, and the answers to it. */
export type DraftKind = "change" | "result" | "error";

/** The edited texts of a held message. */
export interface Draft {
  readonly kind: DraftKind;
  readonly texts: Readonly<Record<DraftKind, string>>;
  /** Whether it is sent unchanged, also if it is not JSON. */
  readonly isRaw: boolean;
}

const drafts = signal<ReadonlyMap<number, Draft>>(new Map());
export const draftOfShown = computed(() => drafts.value.get(shownHeld.value?.key ?? -1));

/** When held messages are released, in milliseconds of `performance.now()`. */
export const deadlines = signal<ReadonlyMap<number, number>>(new Map());

/** Takes the state; null without an interceptor. */
export function takeInterception(state: PageInterception | null): void {
  const known = new Set(interception.value?.held.map(({ key }) => key));
  const added = state?.held.filter(({ key }) => !known.has(key)) ?? [];
  const now = performance.now();
  batch(() => {
    interception.value = state ?? undefined;
    deadlines.value = new Map(state?.held.flatMap(({ key, left }) => (left === undefined ? [] : [[key, now + left]])));
    const isHeld = (key: number): boolean => state?.held.some((each) => each.key === key) === true;
    drafts.value = new Map([...drafts.value].filter(([key]) => isHeld(key)));
    released.value = new Set([...released.value].filter(isHeld));
    if (added.length > 0) announcement.value = `${state?.held.length} held: press i`;
  });
  for (const held of added) if (held.isText) void readText(held);
}

/** Reads the state. */
export async function readInterception(): Promise<void> {
  takeInterception(await call("interception", {}));
}

async function readText({ key, id = "null" }: PageHeld): Promise<void> {
  const text = await call("heldText", { key }).catch(() => null); // Released in the meantime.
  if (text === null) return;
  const answer = (member: string): string => prettyJson(`{"jsonrpc":"2.0","id":${id},${member}}`);
  const texts = {
    change: prettyJson(text),
    result: answer('"result":{}'),
    error: answer('"error":{"code":-32603,"message":"Internal error"}'),
  };
  drafts.value = new Map([...drafts.value, [key, { kind: "change", texts, isRaw: !isJson(text) }]]);
}

/** Shows a held message. */
export function showHeld({ key }: PageHeld): void {
  shownKey.value = key;
  interceptFailure.value = undefined;
}

/** Changes the draft of the shown message. */
export function editDraft(change: Partial<Draft>): void {
  const [held, draft] = [shownHeld.value, draftOfShown.value];
  if (held !== undefined && draft !== undefined)
    drafts.value = new Map([...drafts.value, [held.key, { ...draft, ...change }]]);
}

/** Why the draft cannot be sent; undefined if it can. */
export const draftFault = computed(() => {
  const draft = draftOfShown.value;
  if (draft === undefined || draft.isRaw) return undefined;
  const scan = scanJson(new TextEncoder().encode(draft.texts[draft.kind]));
  return scan.ok ? undefined : `not JSON: ${scan.fault.says}`;
});

/** Sends the draft of the shown message. */
export function sendDraft(): void {
  const draft = draftOfShown.value;
  if (draft === undefined || draftFault.value !== undefined) return;
  const written = draft.texts[draft.kind];
  const text = draft.isRaw ? written : compactJson(written);
  release({ did: draft.kind === "change" ? "change" : "answer", text });
}

/** Releases the message that shows. The next one shows at once: another key is about it. */
export function release(fate: PageFate): void {
  const key = shownHeld.value?.key;
  if (key === undefined) return;
  released.value = new Set([...released.value, key]);
  void act(call("release", { key, fate })).then((isDone) => {
    if (!isDone) released.value = new Set([...released.value].filter((each) => each !== key));
  });
}

/** Settles when the last change of the breakpoints and faults is in force, or refused. */
let changing: Promise<unknown> = Promise.resolve();
/** Changes of the breakpoints and faults that are not in force yet. */
export const changes = signal(0);

/**
 * Changes the breakpoints and faults. A change begins with what the one before has made. They show when the command says that they have
 * changed. Resolves to whether they could be read.
 */
export function changeRules(change: (rules: readonly PageRule[]) => readonly PageRule[]): Promise<boolean> {
  changes.value += 1;
  const changed = changing.then(() =>
    act(
      (async () => {
        const { rules = [] } = (await call("interception", {})) ?? {};
        await call("setRules", { rules: change(rules) });
      })(),
    ),
  );
  changing = changed;
  void changed.then(() => (changes.value -= 1));
  return changed;
}

async function act(done: Promise<unknown>): Promise<boolean> {
  interceptFailure.value = undefined;
  try {
    await done;
    return true;
  } catch (error) {
    interceptFailure.value = messageOf(error);
    return false;
  }
}

/** Reads the frames to which rules were applied. Called whenever the recording has grown. */
export function readTouched(): void {
  const texts = interception.value?.rules.map(({ text }) => text) ?? [];
  if (view.value === undefined || texts.length === 0) return;
  void tryCall("touched", { rules: texts }).then((all) => {
    if (all !== undefined) touched.value = new Map(texts.map((text, index) => [text, all[index] ?? []]));
  });
}

function isJson(text: string): boolean {
  return scanJson(new TextEncoder().encode(text)).ok;
}

/** The tokens of JSON: strings, white space, brackets and commas, and everything else. */
const token = /"(?:[^"\\]|\\.)*"|\s+|[{}[\],:]|[^\s{}[\],:"]+/g;

/** The JSON, indented; numbers, escapes and the order of members stay the same. A text that is not JSON is unchanged. */
function prettyJson(text: string): string {
  if (!isJson(text)) return text;
  let depth = 0;
  let before = "";
  return compactJson(text).replace(token, (each) => {
    const isEmpty = /^[{[]$/.test(before) && /^[}\]]$/.test(each);
    if (/^[}\]]$/.test(each)) depth -= 1;
    const breaks = !isEmpty && (/^[{[,]$/.test(before) || /^[}\]]$/.test(each));
    if (/^[{[]$/.test(each)) depth += 1;
    const indent = /^[{[]$/.test(each) ? depth - 1 : depth;
    before = each;
    return `${breaks ? `\n${"  ".repeat(indent)}` : ""}${each}${each === ":" ? " " : ""}`;
  });
}

/** The JSON on one line, because a line break would end the message. */
function compactJson(text: string): string {
  return text.replace(token, (each) => (/^\s/.test(each) ? "" : each));
}
