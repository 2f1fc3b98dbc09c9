import { latest } from "@parlance/mcp";
import { escapeControls } from "@parlance/mcp/jsonrpc";
import { type Revision, revisionOf } from "@parlance/mcp/protocol";
import { type ByteRange, rangeOf } from "../json/json-node.js";
import type { JsonText } from "../json/json-scan.js";
import type { RecordedVerdict } from "../recording/entry.js";
import { type Frame, partyOf } from "../recording/frame.js";
import {
  type Finding,
  type FrameReading,
  levelOfFinding,
  type Rule,
  type Subjects,
  sentenceOf,
  specOf,
  type Verdict,
} from "../rules/rule.js";
import type { HttpExchange, MessageKind, WireMessage } from "./message.js";
import type { WireSession } from "./session.js";

/** The subject of a rule, and the revision that it is judged by. */
interface Subject<Subject> {
  readonly subject: Subject;
  readonly session: WireSession;
  readonly revision: Revision;
}

type RuleOf<On extends keyof Subjects> = Extract<Rule, { readonly on: On }>;

/** The rules of a revision, indexed by what they judge. */
interface RuleIndex {
  readonly frame: readonly RuleOf<"frame">[];
  readonly body: readonly RuleOf<"body">[];
  readonly message: { readonly [Kind in MessageKind]: readonly RuleOf<"message">[] };
  readonly exchange: readonly RuleOf<"exchange">[];
}

/** Applies a set of rules to what crossed. */
export class Judge {
  readonly #rules: readonly Rule[];
  readonly #statutes = new WeakMap<Revision, RuleIndex>();

  constructor(rules: readonly Rule[]) {
    this.#rules = rules;
  }

  /** Judges the bytes of a frame: by the rules on frames, or by those on the bodies of HTTP. */
  frame({ subject, session, revision }: Subject<FrameReading>, on: "frame" | "body" = "frame"): readonly Verdict[] {
    const { frame, json } = subject;
    const verdicts: Verdict[] = [];
    for (const rule of this.#of(revision)[on]) {
      for (const finding of rule.check(subject, session, revision)) {
        verdicts.push({
          ...common(rule, finding, revision),
          party: finding.party ?? partyOf(frame),
          n: frame.n,
          pointer: finding.pointer,
          range: finding.range ?? rangeIn(frame, json, finding.pointer),
        });
      }
    }
    return verdicts;
  }

  message({ subject, session, revision }: Subject<WireMessage>): readonly Verdict[] {
    const { frame, pointer, kind } = subject;
    const verdicts: Verdict[] = [];
    for (const rule of this.#of(revision).message[kind]) {
      for (const finding of rule.check(subject, session, revision)) {
        verdicts.push({
          ...common(rule, finding, revision),
          party: finding.party ?? partyOf(frame),
          n: frame.n,
          pointer: pointer + (finding.pointer ?? ""),
          range: finding.range ?? rangeOf(subject.node, finding.pointer ?? ""),
        });
      }
    }
    return verdicts;
  }

  exchange({ subject, session, revision }: Subject<HttpExchange>): readonly Verdict[] {
    const { request, response } = subject;
    const verdicts: Verdict[] = [];
    for (const rule of this.#of(revision).exchange) {
      for (const finding of rule.check(subject, session, revision)) {
        const { party = "client" } = finding;
        verdicts.push({
          ...common(rule, finding, revision),
          party,
          n: party === "server" && response !== undefined ? response.n : request.n,
          pointer: undefined,
          range: undefined,
        });
      }
    }
    return verdicts;
  }

  /** The verdicts on the original that a copy of a recording carries, for these rules. */
  carried(verdicts: readonly RecordedVerdict[], n: number): readonly Verdict[] {
    return verdicts.flatMap(({ rule: id, party, pointer, range, header, says, version, by }): readonly Verdict[] => {
      const rule = this.#rules.find((each) => each.id === id);
      if (rule === undefined) return [];
      // These texts are from the recording, whose author is unknown.
      const finding = { says: escapeControls(says), ...(header !== undefined && { header: escapeControls(header) }) };
      const place = { party, n, pointer: pointer && escapeControls(pointer), range };
      const clause = by && {
        level: by.level,
        sentence: by.sentence && escapeControls(by.sentence),
        doubt: by.doubt && escapeControls(by.doubt),
        spec: escapeControls(by.spec),
      };
      return [{ ...common(rule, finding, revisionOf(version) ?? latest), ...place, ...clause }];
    });
  }

  /** Indexed once per revision: a long recording has many messages of few kinds. */
  #of(revision: Revision): RuleIndex {
    const known = this.#statutes.get(revision);
    if (known !== undefined) return known;
    const inForce = this.#rules.filter(({ applies }) => applies?.(revision) ?? true);
    const onMessages = inForce.filter((rule) => rule.on === "message");
    const about = (kind: MessageKind): readonly RuleOf<"message">[] =>
      onMessages.filter(({ kinds }) => kinds?.includes(kind) ?? true);
    const statutes: RuleIndex = {
      frame: inForce.filter((rule) => rule.on === "frame"),
      body: inForce.filter((rule) => rule.on === "body"),
      message: { req: about("req"), ntf: about("ntf"), res: about("res"), err: about("err"), none: about("none") },
      exchange: inForce.filter((rule) => rule.on === "exchange"),
    };
    this.#statutes.set(revision, statutes);
    return statutes;
  }
}

function rangeIn({ bytes }: Frame, { root }: JsonText, pointer: string | undefined): ByteRange {
  return root === undefined || pointer === undefined ? [0, bytes.length] : rangeOf(root, pointer);
}

function common(
  rule: Rule,
  { says, header, by = rule }: Finding,
  revision: Revision,
): Omit<Verdict, "party" | "n" | "pointer" | "range"> {
  return {
    rule,
    level: levelOfFinding(by, revision),
    says,
    header,
    version: revision.version,
    sentence: sentenceOf(by, revision),
    doubt: by.doubt,
    spec: specOf(by, revision),
  };
}
