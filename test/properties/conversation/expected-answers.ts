import { serverLimits } from "@parlance/mcp/jsonrpc";
import { baseProfile } from "../../../packages/mcp/src/jsonrpc/profile.js";
import { literalOf, parseLiterals } from "../literals.js";
import { judge } from "../reference.js";

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The responses to one line, by an independent reading of the specification. */
export interface Expected {
  /** The ids of the responses, as they stand on the wire; `null` where none could be read. */
  readonly ids: readonly string[];
  /** Ids that the line asks to stop: they may be answered all the same, or not. */
  readonly cancels: readonly string[];
}

const nothing: Expected = { ids: [], cancels: [] };
const unread: Expected = { ids: ["null"], cancels: [] };

/** For lines of at most `frameBytes` bytes. */
export function expectedAnswers(line: Uint8Array): Expected {
  let value: unknown;
  let literal: unknown;
  try {
    const text = strict.decode(line);
    if (/^[ \t\r]*$/.test(text)) return nothing;
    value = JSON.parse(text);
    literal = parseLiterals(text);
  } catch {
    return unread;
  }
  if (!Array.isArray(value)) return expectedOfOne(value, literal);
  if (value.length === 0) return unread;
  const each = value.map((element, index) => expectedOfOne(element, (literal as unknown[])[index]));
  return { ids: each.flatMap(({ ids }) => ids), cancels: each.flatMap(({ cancels }) => cancels) };
}

interface Members {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: { readonly id?: unknown };
}

function expectedOfOne(value: unknown, literal: unknown): Expected {
  const { owes, kind } = judge(value, baseProfile, serverLimits);
  const { id, params } = (literal ?? {}) as Members;
  if (owes === "null") return unread;
  if (owes === "id") return { ids: [idLiteral(id)], cancels: [] };
  const isCancel = kind === "notification" && (value as Members).method === "$/cancelRequest";
  return isCancel ? { ids: [], cancels: [idLiteral(params?.id)] } : nothing;
}

/** The ids of the responses in one frame. @throws for a frame that holds anything else */
export function idsOfAnswer(frame: string): readonly string[] {
  const value: unknown = JSON.parse(frame);
  const literal = parseLiterals(frame);
  const [values, literals] = Array.isArray(value) ? [value, literal as unknown[]] : [[value], [literal]];
  if (values.length === 0) throw new Error("an empty batch");
  return values.map((each, index) => {
    const { kind } = judge(each, baseProfile, serverLimits);
    if (kind !== "success" && kind !== "failure") throw new Error(`no response: ${frame}`);
    return idLiteral((literals[index] as Members).id);
  });
}

/** `1.0` and `1` are one id: what a double holds exactly is written in plain digits. */
function idLiteral(id: unknown): string {
  const literal = literalOf(id ?? null);
  const number = literal.startsWith('"') ? Number.NaN : Number(literal);
  return Number.isSafeInteger(number) && !Object.is(number, -0) && literal !== "null" ? String(number) : literal;
}
