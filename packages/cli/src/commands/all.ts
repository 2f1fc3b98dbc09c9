import type { Command } from "commander";
import type { Invocation } from "../invocation.js";

/** Adds a command to the program. */
type Register = (program: Command, invocation: Invocation) => void;

/**
 * Where the commands are; `command-groups.ts` has the order of the help page. Each is loaded when it is wanted: it needs
 * its part of the library, and nobody waits for that of the others.
 */
const commands: Readonly<Record<string, () => Promise<Register>>> = {
  bridge: async () => (await import("./bridge.js")).registerBridge,
  call: async () => (await import("./call.js")).registerCall,
  check: async () => (await import("./check.js")).registerCheck,
  complete: async () => (await import("./complete.js")).registerComplete,
  completion: async () => (await import("./completion.js")).registerCompletion,
  diff: async () => (await import("./diff.js")).registerDiff,
  doctor: async () => (await import("./doctor.js")).registerDoctor,
  explain: async () => (await import("./explain.js")).registerExplain,
  export: async () => (await import("./export.js")).registerExport,
  help: async () => (await import("./help.js")).registerHelp,
  list: async () => (await import("./list.js")).registerList,
  ls: async () => (await import("./ls.js")).registerLs,
  prompt: async () => (await import("./prompt.js")).registerPrompt,
  proxy: async () => (await import("./proxy.js")).registerProxy,
  prune: async () => (await import("./prune.js")).registerPrune,
  read: async () => (await import("./read.js")).registerRead,
  redact: async () => (await import("./redact.js")).registerRedact,
  replay: async () => (await import("./replay.js")).registerReplay,
  run: async () => (await import("./run.js")).registerRun,
  send: async () => (await import("./send.js")).registerSend,
  serve: async () => (await import("./serve.js")).registerServe,
  show: async () => (await import("./show.js")).registerShow,
  subscribe: async () => (await import("./subscribe.js")).registerSubscribe,
  tail: async () => (await import("./tail.js")).registerTail,
  talk: async () => (await import("./talk.js")).registerTalk,
  tap: async () => (await import("./tap.js")).registerTap,
  wrap: async () => (await import("./wrap.js")).registerWrap,
  unwrap: async () => (await import("./wrap.js")).registerWrap,
};

/** Commands that speak of the others. */
const aboutAll: ReadonlySet<string> = new Set(["help", "completion"]);

/** What a command line needs: its command, or all of them where it names none that needs no other. */
export async function registrationsFor([word = ""]: readonly string[]): Promise<ReadonlySet<Register>> {
  const wanted = Object.hasOwn(commands, word) && !aboutAll.has(word) ? commands[word] : undefined;
  const loads = wanted === undefined ? Object.values(commands) : [wanted];
  return new Set(await Promise.all(loads.map((load) => load())));
}
