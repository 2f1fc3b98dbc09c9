import { toFailureAtUrl } from "../../shared/client/url-failure.js";
import { exitCodes } from "../../shared/exit-codes.js";
import { Failure, toFailure } from "../../shared/failure.js";
import type { Target } from "../../shared/target/target.js";
import { handshakeIn, type RawTraffic } from "./exchange.js";
import { openRawLine, type RawLine, sentFrames } from "./raw-line.js";
import type { SendOptions } from "./send-options.js";

/** Sends bytes on a carrier that lasts, and listens. @throws Failure for a target that cannot be reached */
export async function sendOnLine(
  target: Target,
  bytes: Uint8Array,
  { opening, wait, timeout, stop, view, traffic }: SendOptions,
): Promise<void> {
  const line = await openRawLine(target, {
    bytes: (chunk) => traffic.bytes("server", chunk),
    see: (tapped) => traffic.see(tapped),
    stderr: (text) => traffic.observe({ kind: "stderr", at: traffic.now, text }),
  });
  try {
    if (opening !== undefined) await shakeHands(line, opening, { timeout, stop, traffic });
    const { frames, unended } = sentFrames(bytes);
    traffic.bytes("client", bytes);
    for (const frame of frames) traffic.see(frame);
    if (unended && target.kind === "command")
      view.remark("no newline ends this: a server on stdio waits for one (--line adds it)");
    await line.write(bytes);
    await traffic.silence.until({ wait, timeout, isOwed: traffic.isOwed, stop });
  } finally {
    const ended = await line.close();
    if (ended !== undefined) traffic.observe({ kind: "life", at: traffic.now, text: ended });
  }
  requireReached(target, traffic);
}

/** Opens the conversation, so that what follows comes where a server expects it. */
async function shakeHands(
  line: RawLine,
  version: string,
  { timeout, stop, traffic }: Pick<SendOptions, "timeout" | "stop" | "traffic">,
): Promise<void> {
  const [request, initialized] = handshakeIn(version) ?? [];
  if (request === undefined || initialized === undefined) return;
  const text = JSON.stringify(request);
  traffic.see({ kind: "sent", frame: text });
  await line.send(text);
  await traffic.answers(timeout, stop);
  if (traffic.owed.length > 0) return; // Said at the end.
  traffic.see({ kind: "sent", frame: initialized });
  await line.send(initialized);
}

/** A server that was never there has nothing to say for itself. */
function requireReached(target: Target, { error, conversation }: RawTraffic): void {
  if (error === undefined || conversation.recent.some(({ from }) => from === "server")) return;
  const failure = target.kind === "url" ? toFailureAtUrl(error, "opening") : toFailure(error, "opening");
  const { message, seen, remedy } = failure;
  throw new Failure(message, {
    exitCode: exitCodes.unreachable,
    seen: target.kind === "command" ? [] : seen, // Its stderr was shown.
    ...(remedy !== undefined && { remedy }),
    cause: error,
  });
}
