import type { Definitions, SchemaNode } from "./schema-node.js";

/** Where our shapes are meant to differ from published schemas. */
export interface Correction {
  readonly versions: readonly string[];
  readonly reason: string;
  readonly correct: (definitions: Definitions) => void;
}

const [a, b, c, d, e] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] as const;

/** All of them. */
export const corrections: readonly Correction[] = [
  {
    versions: [a, b, c, d, e],
    reason:
      "RFC 3986: what follows the scheme of a URI may be empty; the validator that reads the schemas refuses that",
    correct: (definitions) =>
      walk(definitions, (node) => {
        // A URI is a reference with a scheme.
        if (node.format === "uri")
          Object.assign(node, { format: "uri-reference", pattern: "^[A-Za-z][A-Za-z0-9+.-]*:" });
      }),
  },
  {
    versions: [e],
    reason: "schema.ts says that a JSON value is any; schema.json lost null and fractions",
    correct: (definitions) => {
      definitions.JSONValue = {};
    },
  },
  {
    versions: [c, d, e],
    reason: "schema.ts says that a filled-in form may hold numbers; schema.json says integers",
    correct: (definitions) =>
      walk(definition(definitions, "ElicitResult"), (node) => {
        if (Array.isArray(node.type)) node.type = node.type.map((type) => (type === "integer" ? "number" : type));
      }),
  },
  {
    versions: [e],
    reason: "basic#resulttype: a word that nobody knows makes a result invalid; the schema takes any string",
    correct: (definitions) => {
      for (const [name, { properties }] of Object.entries(definitions)) {
        if (properties?.resultType === undefined) continue;
        const asks = "input_required";
        const words = name === "Result" ? ["complete", asks] : [name === "InputRequiredResult" ? asks : "complete"];
        properties.resultType = { enum: words };
      }
    },
  },
  {
    versions: [e],
    reason:
      "basic/patterns/mrtr: a result that asks has questions, a state, or both; in the schema it may have neither",
    correct: (definitions) => {
      definition(definitions, "InputRequiredResult").anyOf = [
        { required: ["inputRequests"] },
        { required: ["requestState"] },
      ];
    },
  },
  {
    versions: [d],
    reason: "basic/utilities/cancellation: only tasks have no id of a request, and they are cancelled otherwise",
    correct: (definitions) => {
      definition(definitions, "CancelledNotificationParams").required = ["requestId"];
    },
  },
  {
    versions: [a, b, c, d],
    reason: "server/utilities/completion: at most 100 values; only the description says so",
    correct: (definitions) => {
      const { completion } = propertiesOf(definitions, "CompleteResult");
      Object.assign(completion?.properties?.values ?? {}, { maxItems: 100 });
    },
  },
  {
    versions: [a, b, c],
    reason: "an error that answers what could not be read has no id to give back",
    correct: (definitions) => {
      definition(definitions, "JSONRPCError").required = ["error", "jsonrpc"];
    },
  },
  {
    versions: [a, b, c, d, e],
    reason: "the format byte is base64, which validators of JSON Schema do not know",
    correct: (definitions) =>
      walk(definitions, (node) => {
        if (node.format === "byte") node.pattern = "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$";
      }),
  },
  {
    versions: [c],
    reason: "a choice with a mistake in it passes for a line of text, whose schema is open: here the two are one",
    correct: (definitions) => mergeFields(definitions, ["EnumSchema"]),
  },
  {
    versions: [d, e],
    reason: "the same, with more kinds of choices",
    correct: (definitions) =>
      mergeFields(definitions, [
        "UntitledSingleSelectEnumSchema",
        "LegacyTitledEnumSchema",
        "TitledSingleSelectEnumSchema",
      ]),
  },
  {
    versions: [d],
    reason: "basic#meta: every message has a `_meta`; these leave it out",
    correct: (definitions) => {
      const meta = propertiesOf(definitions, "RequestParams")._meta ?? {};
      for (const name of ["GetTaskRequest", "GetTaskPayloadRequest", "CancelTaskRequest"]) {
        Object.assign(propertiesOf(definitions, name).params?.properties ?? {}, { _meta: meta });
      }
      const { params } = propertiesOf(definitions, "ElicitationCompleteNotification");
      Object.assign(params?.properties ?? {}, { _meta: { type: "object" } });
    },
  },
  {
    versions: [e],
    reason: "what is asked and answered within a call may have a `_meta`, and did until then; some leave it out",
    correct: (definitions) => {
      const asked = ["CreateMessageRequestParams", "ElicitRequestFormParams", "ElicitRequestURLParams"];
      for (const name of [...asked, "ElicitResult", "ListRootsResult"]) {
        propertiesOf(definitions, name)._meta = { type: "object" };
      }
    },
  },
];

function definition(definitions: Definitions, name: string): SchemaNode {
  const found = definitions[name];
  if (found === undefined) throw new Error(`the schema has no ${name}`);
  return found;
}

function propertiesOf(definitions: Definitions, name: string): Record<string, SchemaNode> {
  const { properties } = definition(definitions, name);
  if (properties === undefined) throw new Error(`the schema says nothing of members of ${name}`);
  return properties;
}

/** Makes of a line of text and of some choices one kind of field, with the members of all. */
function mergeFields(definitions: Definitions, choices: readonly string[]): void {
  const text = propertiesOf(definitions, "StringSchema");
  for (const name of choices) Object.assign(text, { ...propertiesOf(definitions, name), ...text });
  const fields = definition(definitions, "PrimitiveSchemaDefinition");
  fields.anyOf = (fields.anyOf ?? []).filter(({ $ref = "" }) => !choices.some((name) => $ref.endsWith(`/${name}`)));
}

function walk(node: unknown, visit: (node: SchemaNode) => void): void {
  if (typeof node !== "object" || node === null) return;
  if (!Array.isArray(node)) visit(node);
  for (const inner of Object.values(node)) walk(inner, visit);
}
