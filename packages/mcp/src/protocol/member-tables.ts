import type { MembersOf } from "../base/check-members.js";
import type { Annotations, Icon } from "./types/content.js";
import type { Implementation } from "./types/implementation.js";
import type { PromptArgument } from "./types/prompts.js";
import type { ToolAnnotations, ToolExecution } from "./types/tools.js";

// Members of protocol objects, for checks. In a file of their own, because the files of the types are public entries.

export const annotationMembers: MembersOf<Annotations> = {
  audience: ["strings"],
  priority: ["number"],
  lastModified: ["string"],
};

export const iconMembers: MembersOf<Icon> = {
  src: ["string", "url", "uri", "href"],
  mimeType: ["string", "type"],
  sizes: ["strings", "size"],
  theme: ["string"],
};

export const implementationMembers: MembersOf<Implementation> = {
  name: ["string"],
  title: ["string", "displayName"],
  version: ["string"],
  description: ["string"],
  websiteUrl: ["string", "website", "homepage", "url"],
  icons: iconMembers,
};

export const toolAnnotationMembers: MembersOf<ToolAnnotations> = {
  title: ["string"],
  readOnlyHint: ["boolean", "readOnly", "readonly"],
  destructiveHint: ["boolean", "destructive"],
  idempotentHint: ["boolean", "idempotent"],
  openWorldHint: ["boolean", "openWorld"],
};

export const toolExecutionMembers: MembersOf<ToolExecution> = { taskSupport: ["string", "tasks", "task"] };

export const promptArgumentMembers: MembersOf<Omit<PromptArgument, "name">> = {
  title: ["string"],
  description: ["string", "desc"],
  required: ["boolean", "optional"],
};
