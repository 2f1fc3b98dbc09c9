const tokens = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

interface NumberText {
  readonly numberText: string;
}

/** Parses JSON and keeps every number as it was written: `JSON.parse` alone would round it. */
export function parseLiterals(text: string): unknown {
  return JSON.parse(
    text.replace(tokens, (token) => (token.startsWith('"') ? token : JSON.stringify({ numberText: token }))),
  );
}

/** A scalar out of `parseLiterals` as JSON has it: `1` and `"1"` differ, and so do `1e400` and `1e401`. */
export function literalOf(value: unknown): string {
  const { numberText } = (value ?? {}) as Partial<NumberText>;
  return numberText ?? JSON.stringify(value);
}
