import { checkShape, describeFault, isObject, metaKeys, type Revision } from "@parlance/mcp/protocol";
import type { WireMessage } from "../conversation/message.js";
import { inSchema, ofSchema } from "./citations.js";
import { firstThatKeeps, meantValues } from "./corrections/edits.js";
import type { Faulty, Finding, MessageRule } from "./rule.js";

type MessagePart = Parameters<typeof checkShape>[1];
type ShapeFault = ReturnType<typeof checkShape>[number];

/** The members that all rules on shapes have: each part must match its declaration in the schema. */
const ofShape = {
  level: "must",
  party: "either",
  sentence: ofSchema,
  page: inSchema(),
  correct: (faulty: Faulty<WireMessage>) => firstThatKeeps(faulty, meantValues(faulty)),
} as const;

/** The rules on the members of messages: presence, type and value. */
export const shapeRules: readonly MessageRule[] = [
  {
    id: "M-5",
    ...ofShape,
    kinds: ["req"],
    demands: "The params of a request match the schema",
    check: (message, _session, revision) => faultsOfParams(revision, "params", message, revision.requests),
  },
  {
    id: "M-6",
    ...ofShape,
    kinds: ["res"],
    demands: "A result matches the schema",
    *check({ result, operation }, _session, revision) {
      const { method, from: sender } = operation?.request ?? {};
      if (result === undefined || method === undefined || sender === undefined) return;
      if (!revision.requests[sender].has(method) || isOfExtension(result.resultType)) return;
      yield* faultsOf(revision, { of: "result", method, sender }, result, "result");
    },
  },
  {
    id: "M-7",
    ...ofShape,
    kinds: ["ntf"],
    demands: "The params of a notification match the schema",
    check: (message, _session, revision) => faultsOfParams(revision, "notification", message, revision.notifications),
  },
  {
    id: "M-8",
    ...ofShape,
    kinds: ["err"],
    demands: "The data of an error match the schema of its code",
    applies: ({ codes }) =>
      codes.urlElicitationRequired !== undefined || codes.unsupportedProtocolVersion !== undefined,
    *check(message, _session, revision) {
      const error = message.member("error");
      if (isObject(error)) yield* faultsOf(revision, { of: "error" }, error, "error");
    },
  },
];

/** Whether a result belongs to an extension, whose shapes are not known here. */
function isOfExtension(resultType: unknown): boolean {
  return resultType !== undefined && resultType !== "complete" && resultType !== "input_required";
}

/** Findings that other rules report with a better reason. */
const saidElsewhere: readonly RegExp[] = [
  /^params:\/_meta$/,
  new RegExp(
    `^params:/_meta/(?:${[metaKeys.protocolVersion, metaKeys.clientCapabilities].join("|").replaceAll("/", "~1")})`,
  ),
  /^params:\/_meta\/(?:io\.modelcontextprotocol~1(?:clientInfo|logLevel)|progressToken)/,
  /^result:\/resultType$/,
  /^result:\/tools\/\d+\/(?:inputSchema|outputSchema)/,
  /^error:\/(?:code|message)$/,
];

function* faultsOfParams(
  revision: Revision,
  of: "params" | "notification",
  message: WireMessage,
  methods: Revision["requests"],
): Iterable<Finding> {
  const { from: sender, method } = message;
  const params = message.member("params");
  // Another rule reports params that are neither an object nor absent.
  if (method === undefined || !methods[sender].has(method) || (params !== undefined && !isObject(params))) return;
  yield* faultsOf(revision, { of, method, sender }, params, "params");
}

function* faultsOf(revision: Revision, part: MessagePart, value: unknown, name: string): Iterable<Finding> {
  const faults = checkShape(revision, part, value);
  const isSaid = ({ pointer }: ShapeFault): boolean => saidElsewhere.some((each) => each.test(`${name}:${pointer}`));
  for (const fault of faults) {
    if (isSaid(fault)) continue;
    yield { says: describeFault(fault, name), pointer: `/${name}${fault.pointer}` };
  }
}
