import { elicitation, ping, roots, sampling } from "./client-features.js";
import { caching, cancellation, progress, rounds, subscriptions } from "./exchanges.js";
import { apps, icons, metadata, schemas, skills, taskExtension, tasks } from "./extensions.js";
import { lifecycle } from "./lifecycle.js";
import { messages } from "./messages.js";
import type { Group } from "./requirement.js";
import { prompts, resources, tools } from "./server-features.js";
import { completion, logging, pagination } from "./server-utilities.js";
import { transports } from "./transports.js";

/** A requirement of the protocol, and the test which proves that this implementation meets it. */
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
