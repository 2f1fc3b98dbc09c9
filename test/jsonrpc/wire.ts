/** The failures of the table, as they stand on the wire but for `data`, which is help and no part of the requirement. */
export const parseError = failureText("null", -32_700, "Parse error");
export const invalidRequest = invalid("null");

export function invalid(id: string): string {
  return failureText(id, -32_600, "Invalid Request");
}

export function notFound(id: string): string {
  return failureText(id, -32_601, "Method not found");
}

export function internal(id: string): string {
  return failureText(id, -32_603, "Internal error");
}

function failureText(id: string, code: number, message: string): string {
  return `{"jsonrpc":"2.0","id":${id},"error":{"code":${code},"message":"${message}"}}`;
}

/** A frame without the `data` of its errors; the answers of a batch in one order, because any order is right. */
export function bare(frame: string): string {
  if (!frame.includes('"error":') && !frame.startsWith("[")) return frame;
  const value: unknown = JSON.parse(frame, (key, member: unknown) => (key === "data" ? undefined : member));
  if (!Array.isArray(value)) return JSON.stringify(value);
  return `[${value
    .map((each) => JSON.stringify(each))
    .sort()
    .join(",")}]`;
}
