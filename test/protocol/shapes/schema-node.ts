/** A node of a schema; open to corrections. */
export interface SchemaNode {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  maxItems?: number;
  items?: SchemaNode;
  properties?: Record<string, SchemaNode>;
  required?: string[];
  additionalProperties?: SchemaNode | boolean;
  anyOf?: SchemaNode[];
  allOf?: SchemaNode[];
}

/** The definitions of a published schema. */
export type Definitions = Record<string, SchemaNode>;
