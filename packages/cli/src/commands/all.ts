import type { Command } from "commander";
import type { Invocation } from "../invocation.js";
import { registerBridge } from "./bridge.js";
import { registerCall } from "./call.js";
import { registerCheck } from "./check.js";
import { registerCompletion } from "./completion.js";
import { registerDiff } from "./diff.js";
import { registerDoctor } from "./doctor.js";
import { registerExplain } from "./explain.js";
import { registerExport } from "./export.js";
import { registerList } from "./list.js";
import { registerLs } from "./ls.js";
import { registerProxy } from "./proxy.js";
import { registerRedact } from "./redact.js";
import { registerReplay } from "./replay.js";
import { registerRun } from "./run.js";
import { registerSend } from "./send.js";
import { registerServe } from "./serve.js";
import { registerShow } from "./show.js";
import { registerTail } from "./tail.js";
import { registerTalk } from "./talk.js";
import { registerTap } from "./tap.js";
import { registerWrap } from "./wrap.js";

/** Every command. `command-groups.ts` has the order of the help page. */
export const registrations: readonly ((program: Command, invocation: Invocation) => void)[] = [
  registerBridge,
  registerCall,
  registerCheck,
  registerCompletion,
  registerDiff,
  registerDoctor,
  registerExplain,
  registerExport,
  registerList,
  registerLs,
  registerProxy,
  registerRedact,
  registerReplay,
  registerRun,
  registerSend,
  registerServe,
  registerShow,
  registerTail,
  registerTalk,
  registerTap,
  registerWrap,
];
