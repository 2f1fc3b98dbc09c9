import { escapeControls } from "../../base/escape-controls.js";
import { isObject, type JsonObject } from "../../base/json.js";
import { andThen, type MaybePromise } from "../../base/maybe-promise.js";
import { codes, invalidParams, type ParamsFault, RpcError } from "../../jsonrpc/errors.js";
import type { ElicitResult } from "../../protocol/types/elicitation.js";
import { compile } from "../../schema/compile.js";
import { SchemaError } from "../../schema/schema-error.js";
import { formDefaults } from "../../session/input-methods.js";

type Content = NonNullable<ElicitResult["content"]>;

/** The keywords of a form field. Other keywords, such as `pattern`, exist in no revision and are ignored. */
const keywords: ReadonlySet<string> = new Set([
  "type",
  "minLength",
  "maxLength",
  "format",
  "minimum",
  "maximum",
  "enum",
  "oneOf",
  "items",
  "minItems",
  "maxItems",
]);

/** A form of a server. */
export interface ElicitationForm {
  /** Adds the defaults to the content. @throws RpcError −32603 for content that violates the form */
  complete(content: Content): MaybePromise<Content>;
}

/**
 * Reads a form, before the handler shows it to the user.
 * https://modelcontextprotocol.io/specification/latest/client/elicitation#requested-schema
 *
 * @throws RpcError −32602 for an invalid form
 */
export function readForm({ requestedSchema }: JsonObject): ElicitationForm {
  const properties = isObject(requestedSchema) ? requestedSchema.properties : undefined;
  if (!isObject(requestedSchema) || !isObject(properties)) {
    throw invalidParams("Invalid params", [{ path: "/requestedSchema", message: "must be an object with properties" }]);
  }
  const fields = Object.entries(properties);
  const { check } = compileForm(fields, requestedSchema.required);
  const defaults = formDefaults(requestedSchema);
  return {
    complete(content) {
      const given = Object.entries(content).filter(([, value]) => value !== undefined);
      const filled = Object.fromEntries([...Object.entries(defaults), ...given]);
      return andThen(check(filled), (checked) => {
        if (checked.ok) return filled as Content; // The check has validated its values.
        const why = `the answer does not fit the form: ${describe(checked.errors)}`;
        // The error goes to the server: the client does not know which of its calls a request belongs to.
        throw new RpcError(codes.internalError, why);
      });
    },
  };
}

function compileForm(fields: readonly (readonly [string, unknown])[], required: unknown): ReturnType<typeof compile> {
  const plain = fields.map(([name, field]) => [name, plainField(field)]);
  const schema = {
    type: "object",
    properties: Object.fromEntries(plain),
    ...(required === undefined ? {} : { required }),
  };
  try {
    return compile(schema, { trust: "peer", formats: "assert" });
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    throw invalidParams("Invalid params", [{ path: `/requestedSchema${error.pointer}`, message: error.message }]);
  }
}

function plainField(field: unknown): unknown {
  if (!isObject(field)) return field;
  return Object.fromEntries(Object.entries(field).filter(([keyword]) => keywords.has(keyword)));
}

function describe(faults: readonly ParamsFault[]): string {
  return escapeControls(faults.map(({ path, message }) => `${path} ${message}`).join("; ")); // The peer chose the names of the fields.
}
