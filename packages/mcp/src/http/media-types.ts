/** The media types of MCP over HTTP. */
export const json = "application/json";
export const eventStream = "text/event-stream";

/** The problem with a `Content-Type`; undefined if it is JSON in UTF-8. */
export function contentTypeFault(contentType: string | undefined): string | undefined {
  if (contentType === undefined) return `the body has no Content-Type: ${json} is expected`;
  const [type = "", ...parameters] = contentType.split(";").map((part) => part.trim().toLowerCase());
  if (type !== json) return `Content-Type is not ${json}`;
  const foreign = parameters.find((parameter) => parameter.startsWith("charset=") && !utf8.has(parameter));
  return foreign === undefined ? undefined : "the charset of the body is not utf-8";
}

const utf8: ReadonlySet<string> = new Set(["charset=utf-8", 'charset="utf-8"', "charset=utf8"]);

/** Whether an `Accept` header accepts all of the media types. Without the header, none is accepted. */
export function accepts(accept: string | undefined, ...types: readonly string[]): boolean {
  if (accept === undefined) return false;
  const taken = accept.split(",").flatMap((each) => {
    const [range = "", ...parameters] = each.split(";").map((part) => part.trim().toLowerCase());
    return parameters.some((parameter) => refused.test(parameter)) ? [] : [range];
  });
  return types.every((type) => taken.some((range) => range === type || range === "*/*" || range === anyOf(type)));
}

/** A weight of zero, which means "not acceptable" (RFC 9110 §12.4.2). */
const refused = /^q=0(?:\.0*)?$/;

function anyOf(type: string): string {
  return `${type.slice(0, type.indexOf("/"))}/*`;
}
