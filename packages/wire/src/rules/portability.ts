// The limits of model providers on the definition of a tool. A host passes definitions on to a model; a provider that refuses one
// usually refuses the whole request. Each line has the page of the provider, or the report with the error message of its API.

import { describeValue, isObject, type JsonObject, methods, pointerToken } from "@parlance/mcp/protocol";
import type { Rule } from "./rule.js";
import { listedIn } from "./tools.js";

/** One limit of one provider. */
interface Limit {
  readonly id: string;
  readonly provider: string;
  /** The requirement of the provider. */
  readonly demands: string;
  /** The page that states it. */
  readonly page: string;
  /** The places of a definition that it refuses. */
  readonly refused: (definition: JsonObject) => Iterable<Place>;
}

/** A place in the definition of a tool. */
interface Place {
  readonly pointer: string;
  /** The refused part. */
  readonly what: string;
}

const geminiSchema = "https://ai.google.dev/api/caching#Schema";

/** https://ai.google.dev/api/caching#Schema */
const geminiKeywords: ReadonlySet<string> = new Set(
  "type format title description nullable enum maxItems minItems properties required minProperties maxProperties minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum".split(
    " ",
  ),
);

const limits: readonly Limit[] = [
  {
    id: "K-1",
    provider: "OpenAI",
    demands: "The inputSchema has no oneOf, anyOf, allOf, enum, const or not at its top level",
    page: "https://github.com/langchain-ai/langchainjs/issues/9804",
    refused: atTop("oneOf", "anyOf", "allOf", "enum", "const", "not"),
  },
  {
    id: "K-2",
    provider: "Anthropic",
    demands: "The inputSchema has no oneOf, anyOf or allOf at its top level",
    page: "https://github.com/anthropics/claude-code/issues/40075",
    refused: atTop("oneOf", "anyOf", "allOf"),
  },
  {
    id: "K-3",
    provider: "Gemini",
    demands:
      "The inputSchema has only the keywords of the provider's subset of OpenAPI, where it is passed as `parameters`",
    page: geminiSchema,
    refused: keywords((keyword) => !geminiKeywords.has(keyword)),
  },
  {
    id: "K-4",
    provider: "Gemini",
    demands: "The type of a schema is one type, and no list",
    page: "https://github.com/n8n-io/n8n/issues/15553",
    refused: keywords((keyword, { type }) => keyword === "type" && Array.isArray(type), "a list of types"),
  },
  {
    id: "K-5",
    provider: "Gemini",
    demands: "The values of an enum are strings",
    page: geminiSchema,
    refused: keywords(
      (keyword, schema) => keyword === "enum" && hasOthers(schema.enum),
      "an enum of other values than strings",
    ),
  },
  {
    id: "K-6",
    provider: "OpenAI",
    demands: "The name of a tool has 1 to 64 letters, digits, underscores and hyphens",
    page: "https://platform.openai.com/docs/api-reference/chat/create",
    refused: named(/^[\w-]{1,64}$/),
  },
  {
    id: "K-7",
    provider: "Anthropic",
    demands: "The name of a tool has 1 to 128 letters, digits, underscores and hyphens",
    page: "https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools",
    refused: named(/^[\w-]{1,128}$/),
  },
  {
    id: "K-8",
    provider: "Gemini",
    demands: "The name of a tool has 1 to 64 letters, digits, underscores, colons, dots and hyphens",
    page: "https://ai.google.dev/api/caching#FunctionDeclaration",
    refused: named(/^[\w:.-]{1,64}$/),
  },
  {
    id: "K-9",
    provider: "OpenAI with strict: true",
    demands: "The inputSchema has no oneOf, allOf, not, if, then, else, dependentRequired or dependentSchemas",
    page: "https://platform.openai.com/docs/guides/structured-outputs#supported-schemas",
    refused: anywhere("oneOf", "allOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas"),
  },
  {
    id: "K-10",
    provider: "Anthropic with strict: true",
    demands: "The inputSchema has no bounds of numbers and of the lengths of strings",
    page: "https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations",
    refused: anywhere(
      "minimum",
      "maximum",
      "exclusiveMinimum",
      "exclusiveMaximum",
      "multipleOf",
      "minLength",
      "maxLength",
    ),
  },
  {
    id: "K-11",
    provider: "Gemini",
    demands: "The members in `required` are among `properties`",
    page: "https://github.com/anomalyco/opencode/issues/3140",
    refused: keywords(
      (keyword, schema) => keyword === "required" && requiresOthers(schema),
      "a required member that is not in properties",
    ),
  },
];

/** The parts of tool definitions that each provider refuses. These are not rules of the protocol. */
export const portabilityRules: readonly Rule[] = limits.map(
  ({ id, provider, demands, page, refused }): Rule => ({
    id,
    level: "may",
    party: "server",
    kinds: ["res"],
    methods: [methods.listTools],
    demands: `${provider}: ${demands}`,
    page,
    on: "message",
    *check(message) {
      for (const { definition, pointer } of listedIn(message))
        for (const { what, pointer: place } of refused(definition))
          yield {
            says: `${provider} refuses ${what}, in the tool ${describeValue(definition.name)}`,
            pointer: pointer + place,
          };
    },
  }),
);

function named(pattern: RegExp): Limit["refused"] {
  return ({ name }) =>
    typeof name === "string" && !pattern.test(name) ? [{ pointer: "/name", what: "this name" }] : [];
}

function atTop(...names: readonly string[]): Limit["refused"] {
  return ({ inputSchema }) =>
    names.flatMap((name) =>
      isObject(inputSchema) && Object.hasOwn(inputSchema, name)
        ? [{ pointer: `/inputSchema/${name}`, what: `${name} at the top level` }]
        : [],
    );
}

function anywhere(...names: readonly string[]): Limit["refused"] {
  return keywords((keyword) => names.includes(keyword));
}

function requiresOthers({ required, properties = {} }: JsonObject): boolean {
  if (!Array.isArray(required) || !isObject(properties)) return false;
  return required.some((name) => typeof name === "string" && !Object.hasOwn(properties, name));
}

function hasOthers(values: unknown): boolean {
  return Array.isArray(values) && values.some((value) => typeof value !== "string");
}

/** The first place of each keyword of an inputSchema that a test selects, and the number of further places. */
function keywords(selects: (keyword: string, schema: JsonObject) => boolean, name?: string): Limit["refused"] {
  return function* ({ inputSchema }) {
    const found = new Map<string, { readonly pointer: string; count: number }>();
    for (const { schema, pointer } of schemasIn(inputSchema, "/inputSchema"))
      for (const keyword of Object.keys(schema)) {
        if (!selects(keyword, schema)) continue;
        const place = found.get(keyword) ?? { pointer: `${pointer}/${pointerToken(keyword)}`, count: 0 };
        place.count += 1;
        found.set(keyword, place);
      }
    for (const [keyword, { pointer, count }] of found) {
      const more = count === 1 ? "" : ` (${count} times)`;
      yield { pointer, what: `${name ?? describeValue(keyword)}${more}` };
    }
  };
}

/** Keywords with one schema, with schemas by name, and with a list of schemas. */
const single: ReadonlySet<string> = new Set(
  "additionalProperties items not if then else contains propertyNames unevaluatedItems unevaluatedProperties".split(
    " ",
  ),
);
const byName: ReadonlySet<string> = new Set(
  "properties patternProperties $defs definitions dependentSchemas".split(" "),
);
const listed: ReadonlySet<string> = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);

interface PlacedSchema {
  readonly schema: JsonObject;
  readonly pointer: string;
}

/** A schema and the schemas in it. */
function* schemasIn(schema: unknown, pointer: string): Iterable<PlacedSchema> {
  if (!isObject(schema)) return;
  yield { schema, pointer };
  for (const [keyword, value] of Object.entries(schema)) {
    const place = `${pointer}/${pointerToken(keyword)}`;
    if (single.has(keyword)) yield* schemasIn(value, place);
    const inner =
      (byName.has(keyword) && isObject(value)) || (listed.has(keyword) && Array.isArray(value)) ? value : {};
    for (const [name, each] of Object.entries(inner)) yield* schemasIn(each, `${place}/${pointerToken(name)}`);
  }
}
