import type { MembersOf } from "../base/check-members.js";
import type { Annotations, Icon } from "./types/content.js";
import type { Implementation } from "./types/implementation.js";
import type { PromptArgument } from "./types/prompts.js";
import type { ToolAnnotations, ToolExecution } from "./types/tools.js";

// Members of protocol objects, for checks. In a file of their own, because the files of the types are public entries.

export const annotationMembers: MembersOf<Annotations> = { audience: [], priority: [], lastModified: [] };

export const iconMembers: MembersOf<Icon> = {
  src: ["url", "uri", "href"],
  mimeType: ["type"],
  sizes: ["size"],
  theme: [],
};

export const implementationMembers: MembersOf<Implementation> = {
  name: [],
  title: ["displayName"],
  version: [],
  description: [],
  websiteUrl: ["website", "homepage", "url"],
  icons: iconMembers,
};

export const toolAnnotationMembers: MembersOf<ToolAnnotations> = {
  title: [],
  readOnlyHint: ["readOnly", "readonly"],
  destructiveHint: ["destructive"],
  idempotentHint: ["idempotent"],
  openWorldHint: ["openWorld"],
};

export const toolExecutionMembers: MembersOf<ToolExecution> = { taskSupport: ["tasks", "task"] };

export const promptArgumentMembers: MembersOf<Omit<PromptArgument, "name">> = {
  title: [],
  description: ["desc"],
  required: ["optional"],
};
