import type { Client } from "@parlance/mcp/client";
import type { PageSpoken } from "@parlance/web/protocol";
import { type ConverseOptions, converse, untilOver } from "../../shared/client/converse.js";
import type { ObservedTarget } from "../../shared/client/observed-target.js";
import { exitCodes } from "../../shared/exit-codes.js";
import type { Failure } from "../../shared/failure.js";
import { aborted } from "../../shared/interrupt.js";
import { printFailure } from "../../shared/output/terminal.js";
import type { Acting } from "../open/acting.js";
import type { RecordedTarget } from "./recorded-target.js";

/**
 * Resolves when a conversation has ended: to the next one, if a page requests one. @throws Failure if the server did not exit
 * normally
 */
export function untilLeft(
  client: Client,
  observed: ObservedTarget,
  stop: AbortSignal,
  acting: Acting | undefined,
): Promise<PageSpoken | undefined> {
  const over = untilOver(client, observed, stop).then(() => undefined);
  return acting === undefined ? over : Promise.race([over, acting.reconnection()]);
}

/**
 * Opens the conversations that pages request, one after the other, until the command is interrupted. @param first the first
 * request; undefined if no page has requested one
 */
export async function converseAsAsked(
  first: PageSpoken | undefined,
  how: ConverseOptions,
  acting: Acting,
  recorded: RecordedTarget,
): Promise<void> {
  const { err, interrupt } = how.invocation;
  let asked = first;
  while (asked !== undefined && !interrupt.stop.aborted) {
    const { revision, era } = asked;
    let failure: Failure | undefined;
    const onFailure = (why: Failure): void => {
      failure = why;
      printFailure(why, err);
    };
    asked = undefined;
    acting.begin(recorded.next());
    await converse({ ...how, flags: { ...how.flags, revision }, era, onFailure }, async (client, observed) => {
      acting.open(client, observed);
      await acting.listAgain().catch(() => undefined); // The frames show the refusal of a list.
      asked = await untilLeft(client, observed, interrupt.stop, acting);
      return exitCodes.clean;
    });
    if (asked !== undefined || interrupt.stop.aborted) continue;
    acting.close(failure);
    asked = await Promise.race([acting.reconnection(), aborted(interrupt.stop)]);
  }
}
