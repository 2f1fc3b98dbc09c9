import { elicitation, ping, roots, sampling } from "./requirements/client-features.js";
import { caching, cancellation, progress, rounds, subscriptions } from "./requirements/exchanges.js";
import { apps, icons, metadata, schemas, skills, taskExtension, tasks } from "./requirements/extensions.js";
import { lifecycle } from "./requirements/lifecycle.js";
import { messages } from "./requirements/messages.js";
import type { Group } from "./requirements/requirement.js";
import { prompts, resources, tools } from "./requirements/server-features.js";
import { completion, logging, pagination } from "./requirements/server-utilities.js";
import { transports } from "./requirements/transports.js";

/** What the protocol asks of an implementation, and which test proves that this one does it. */
export const groups: readonly Group[] = [
  messages,
  lifecycle,
  transports,
  tools,
  resources,
  prompts,
  completion,
  logging,
  pagination,
  progress,
  cancellation,
  caching,
  rounds,
  subscriptions,
  elicitation,
  sampling,
  roots,
  ping,
  tasks,
  taskExtension,
  skills,
  apps,
  metadata,
  icons,
  schemas,
];
