import { createHash } from "node:crypto";
import { isObject, metaKeys } from "@parlance/mcp/protocol";
import { type RecordedOperation, statusOf, targetOf } from "@parlance/wire";
import { packageVersion } from "../../shared/package-version.js";
import { chosenOperations, type Exported, jsonWithList, momentOf } from "./exported.js";

/** The numbers of span kinds and statuses in OTLP. */
const spanKinds = { client: 3 } as const;
const statusCodes = { ok: 1, error: 2 } as const;

/**
 * Traces as OTLP in JSON: a span for each request. A request with a W3C trace context is a child of that span; all others of a
 * recording form one trace.
 */
export function* toOtlp(exported: Exported): Generator<string> {
  const { header } = exported;
  const resource = { attributes: [attribute("service.name", header?.server?.cmd ?? header?.server?.url ?? "mcp")] };
  const scope = { name: "parlance", version: packageVersion };
  yield* jsonWithList({ resourceSpans: [{ resource, scopeSpans: [{ scope, spans: [] }] }] }, function* () {
    for (const operation of chosenOperations(exported)) {
      yield span(operation, exported);
    }
  });
}

function span(operation: RecordedOperation, { header }: Exported): object {
  const { request, answer, notices } = operation;
  const { method = "", params, revision, id } = request;
  const target = targetOf(params);
  const parent = traceParent(operation);
  const status = statusOf(operation);
  const isOk = status === "ok" || status === "input_required";
  const start = request.frame.entry.t;
  const end = answer?.frame.entry.t1 ?? answer?.frame.entry.t ?? start;
  const attributes = [
    attribute("mcp.method.name", method),
    attribute("jsonrpc.request.id", id),
    attribute("mcp.protocol.version", revision?.version),
    attribute(method === "tools/call" ? "gen_ai.tool.name" : "mcp.target", target),
    attribute("error.type", isOk ? undefined : status),
  ];
  return {
    traceId: parent?.traceId ?? digest(header?.id ?? "", 32),
    spanId: digest(`${header?.id ?? ""} ${request.frame.n} ${request.pointer}`, 16),
    ...(parent !== undefined && { parentSpanId: parent.spanId }),
    name: target === undefined ? method : `${method} ${target}`,
    kind: spanKinds.client,
    startTimeUnixNano: nanoseconds(header, start),
    endTimeUnixNano: nanoseconds(header, end),
    attributes: attributes.filter((each) => each !== undefined),
    events: notices.map(({ method: name = "", frame }) => ({ timeUnixNano: nanoseconds(header, frame.entry.t), name })),
    status: isOk ? { code: statusCodes.ok } : { code: statusCodes.error, message: status },
  };
}

function attribute(key: string, value: string | undefined): object | undefined {
  return value === undefined ? undefined : { key, value: { stringValue: value } };
}

/** https://www.w3.org/TR/trace-context/#traceparent-header */
function traceParent({
  request,
}: RecordedOperation): { readonly traceId: string; readonly spanId: string } | undefined {
  const { _meta: meta } = request.params;
  const written = isObject(meta) ? meta[metaKeys.traceparent] : undefined;
  const [, traceId, spanId] = /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}/.exec(String(written)) ?? [];
  return traceId === undefined || spanId === undefined ? undefined : { traceId, spanId };
}

function digest(text: string, length: number): string {
  return createHash("sha256").update(text).digest("hex").slice(0, length);
}

/** Nanoseconds since 1970, as text: a double cannot hold them. */
function nanoseconds(header: Exported["header"], at: number): string {
  const start = BigInt(momentOf(header, 0).getTime()) * 1_000_000n;
  return String(start + BigInt(Math.round(at * 1_000_000)));
}
