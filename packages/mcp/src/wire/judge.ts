import type { Revision } from "../revisions/revision.js";
import type { Exchange } from "./exchange.js";
import { type Frame, partyOf } from "./frame.js";
import { type ByteRange, type JsonNode, rangeOf } from "./json-node.js";
import type { WireMessage } from "./message.js";
import { type Finding, type FrameReading, type Rule, type Subjects, specOf, type Verdict } from "./rule.js";
import type { WireSession } from "./session.js";

/** What a rule is asked about, and by which revision. */
interface Case<Subject> {
  readonly subject: Subject;
  readonly session: WireSession;
  readonly revision: Revision;
}

/** Holds what crossed against a set of rules. */
export class Judge {
  readonly #rules: { readonly [On in keyof Subjects]: readonly Extract<Rule, { readonly on: On }>[] };

  constructor(rules: readonly Rule[]) {
    this.#rules = {
      frame: rules.filter((rule) => rule.on === "frame"),
      message: rules.filter((rule) => rule.on === "message"),
      exchange: rules.filter((rule) => rule.on === "exchange"),
    };
  }

  frame({ subject, session, revision }: Case<FrameReading>): readonly Verdict[] {
    const { frame, root } = subject;
    return this.#rules.frame.filter(inForce(revision)).flatMap((rule) =>
      Array.from(
        rule.check(subject, session, revision),
        (finding): Verdict => ({
          ...common(rule, finding, revision),
          party: finding.party ?? partyOf(frame),
          n: frame.n,
          pointer: finding.pointer,
          range: finding.range ?? rangeIn(frame, root, finding.pointer),
        }),
      ),
    );
  }

  message({ subject, session, revision }: Case<WireMessage>): readonly Verdict[] {
    const { frame, pointer } = subject;
    return this.#rules.message.filter(inForce(revision)).flatMap((rule) =>
      Array.from(
        rule.check(subject, session, revision),
        (finding): Verdict => ({
          ...common(rule, finding, revision),
          party: finding.party ?? partyOf(frame),
          n: frame.n,
          pointer: pointer + (finding.pointer ?? ""),
          range: finding.range ?? rangeOf(subject.node, finding.pointer ?? ""),
        }),
      ),
    );
  }

  exchange({ subject, session, revision }: Case<Exchange>): readonly Verdict[] {
    const { request, response } = subject;
    return this.#rules.exchange.filter(inForce(revision)).flatMap((rule) =>
      Array.from(rule.check(subject, session, revision), (finding): Verdict => {
        const { party = "client" } = finding;
        return {
          ...common(rule, finding, revision),
          party,
          n: party === "server" && response !== undefined ? response.n : request.n,
          pointer: undefined,
          range: undefined,
        };
      }),
    );
  }
}

function rangeIn({ bytes }: Frame, root: JsonNode | undefined, pointer: string | undefined): ByteRange {
  return root === undefined || pointer === undefined ? [0, bytes.length] : rangeOf(root, pointer);
}

function inForce(revision: Revision): (rule: Rule) => boolean {
  return ({ applies }) => applies?.(revision) ?? true;
}

function common(
  rule: Rule,
  { says, header }: Finding,
  revision: Revision,
): Pick<Verdict, "rule" | "level" | "says" | "header" | "version" | "spec"> {
  return { rule, level: rule.level, says, header, version: revision.version, spec: specOf(rule, revision) };
}
