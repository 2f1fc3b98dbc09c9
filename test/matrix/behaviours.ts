import type { Behaviour } from "./behaviour.js";
import { calls } from "./behaviours/calls.js";
import { changes } from "./behaviours/changes.js";
import { prompts } from "./behaviours/prompts.js";
import { questions } from "./behaviours/questions.js";
import { resources } from "./behaviours/resources.js";
import { tools } from "./behaviours/tools.js";

/** All that every server does for every client. */
export const behaviours: readonly Behaviour[] = [
  ...calls,
  ...tools,
  ...resources,
  ...prompts,
  ...questions,
  ...changes,
];
