import { type Command, InvalidArgumentError } from "commander";
import { type FaultCarrier, type FaultRule, parseFaultRule } from "./fault-rules.js";

/** What a command line says of faults. */
export interface FaultFlags {
  readonly fault?: readonly string[];
  readonly seed: number;
}

/** The faults of a conversation. */
export interface FaultPlan {
  readonly rules: readonly FaultRule[];
  readonly seed: number;
}

/** Adds the options that put faults on the way. */
export function addFaultOptions(command: Command): Command {
  return command
    .option("--fault <fault>", "what becomes of some frames, see below; may be repeated", collectFault)
    .option("--seed <number>", "the same number, the same chances", seed, 1);
}

/** The faults that flags ask for; undefined for none. @throws Failure for one that cannot be read */
export function faultPlan({ fault = [], seed: chances }: FaultFlags, carrier: FaultCarrier): FaultPlan | undefined {
  if (fault.length === 0) return undefined;
  return { rules: fault.map((text) => parseFaultRule(text, carrier)), seed: chances };
}

function collectFault(text: string, others: readonly string[] = []): readonly string[] {
  return [...others, text];
}

function seed(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number, of at most nine digits.");
}
