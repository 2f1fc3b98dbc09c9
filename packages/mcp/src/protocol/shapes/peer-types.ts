import { array, boolean, extending, map, object, optional, ref, string, type Types, uri } from "./shape.js";

const listChanged = optional(boolean);
const setting = optional(object({}));
const settings = optional(map(object({})));

/** The types of peer descriptions: implementation and capabilities. */
export const peerTypes: Types = {
  Implementation: extending(["BaseMetadata", "Icons"], {
    version: string,
    description: optional(string),
    websiteUrl: optional(uri),
  }),
  ClientCapabilities: object({
    roots: setting,
    sampling: optional(object({ context: setting, tools: setting })),
    elicitation: optional(object({ form: setting, url: setting })),
    extensions: settings,
    experimental: settings,
  }),
  ServerCapabilities: object({
    tools: optional(object({ listChanged })),
    resources: optional(object({ subscribe: optional(boolean), listChanged })),
    prompts: optional(object({ listChanged })),
    completions: setting,
    logging: setting,
    extensions: settings,
    experimental: settings,
  }),

  DiscoverResult: extending(["CacheableResult"], {
    supportedVersions: array(string),
    capabilities: ref("ServerCapabilities"),
    instructions: optional(string),
  }),
  InitializeRequestParams: extending(["RequestParams"], {
    protocolVersion: string,
    capabilities: ref("ClientCapabilities"),
    clientInfo: ref("Implementation"),
  }),
  InitializeResult: extending(["Result"], {
    protocolVersion: string,
    capabilities: ref("ServerCapabilities"),
    serverInfo: ref("Implementation"),
    instructions: optional(string),
  }),
};
