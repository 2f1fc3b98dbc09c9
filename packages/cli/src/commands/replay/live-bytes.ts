import { metaKeys } from "@parlance/mcp/protocol";
import { nodeAt, type RecordedOperation, type Verdict, type WireMessage } from "@parlance/wire";

type ByteRange = NonNullable<Verdict["range"]>;

/** A recorded request as it is made again: what its maker has chosen freely, as it is written. */
export interface LiveRequest {
  readonly id: string;
  readonly progressToken: string | undefined;
}

/** What finds the live request in the place of a recorded one. */
export type LiveRequests = ReadonlyMap<RecordedOperation, LiveRequest>;

/** A piece of bytes that gives way to another text. */
export interface Replacement {
  readonly range: ByteRange;
  readonly text: string;
}

const subscriptionId = metaKeys.subscriptionId.replaceAll("/", "~1");

/**
 * The bytes of a recorded frame with the ids and the tokens of the live requests that it names. Undefined for one that
 * cannot be sent: it reports on a request that was not made, or that wants no reports.
 */
export function liveBytes(
  bytes: Uint8Array,
  messages: readonly WireMessage[],
  live: LiveRequests,
): Uint8Array | undefined {
  const replacements: Replacement[] = [];
  for (const message of messages) {
    const operation = message.concerns;
    if (operation === undefined || operation.request.from === message.from) continue;
    const request = live.get(operation);
    const { kind, node } = message;
    const token = kind === "ntf" ? nodeAt(node, "/params/progressToken") : undefined;
    if (request === undefined || (token !== undefined && request.progressToken === undefined)) return undefined;
    const ids = ["/params", "/result"].map((holder) => nodeAt(node, `${holder}/_meta/${subscriptionId}`));
    for (const at of ids) if (at !== undefined) replacements.push({ range: [at.start, at.end], text: request.id });
    const id = kind === "ntf" ? undefined : nodeAt(node, "/id");
    if (id !== undefined) replacements.push({ range: [id.start, id.end], text: likeRecorded(message, request.id) });
    if (token !== undefined && request.progressToken !== undefined)
      replacements.push({ range: [token.start, token.end], text: request.progressToken });
  }
  return replaced(bytes, replacements);
}

/** A server that has answered `"7"` for `7` is played as one that does. */
function likeRecorded({ context }: WireMessage, id: string): string {
  if (context.pairing?.is !== "other type") return id;
  return id.startsWith('"') ? (JSON.parse(id) as string) : JSON.stringify(id);
}

const encoder = new TextEncoder();

/** Bytes with some of their pieces replaced. */
export function replaced(bytes: Uint8Array, replacements: readonly Replacement[]): Uint8Array {
  if (replacements.length === 0) return bytes;
  const parts: Uint8Array[] = [];
  let at = 0;
  for (const { range, text } of [...replacements].sort((a, b) => a.range[0] - b.range[0])) {
    parts.push(bytes.subarray(at, range[0]), encoder.encode(text));
    at = range[1];
  }
  return Buffer.concat([...parts, bytes.subarray(at)]);
}
