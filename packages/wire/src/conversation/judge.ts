import { latest } from "@parlance/mcp";
import { escapeControls } from "@parlance/mcp/jsonrpc";
import { type Revision, revisionOf } from "@parlance/mcp/protocol";
import { type ByteRange, rangeOf } from "../json/json-node.js";
import type { JsonText } from "../json/json-scan.js";
import type { RecordedVerdict } from "../recording/entry.js";
import { type Frame, partyOf, type Sender } from "../recording/frame.js";
import {
  type Correction,
  type Faulty,
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
import type { Row } from "./row.js";
import type { WireSession } from "./session.js";

/** The subject of a rule, and the revision that it is judged by. */
interface Subject<Subject> {
  readonly subject: Subject;
  readonly session: WireSession;
  readonly revision: Revision;
}

type Check<Of> = (subject: Of, session: WireSession, revision: Revision) => Iterable<Finding>;

type RuleOf<On extends keyof Subjects> = Extract<Rule, { readonly on: On }>;

/** Rules by a key of their subjects: a channel, a method, a step of a sign-in. */
interface RulesByKey<Rule> {
  readonly keyed: ReadonlyMap<string, readonly Rule[]>;
  /** The rules for subjects whose key no rule names. */
  readonly others: readonly Rule[];
}

/**
 * The rules of a revision, indexed by their subjects, so that only rules that can apply to a subject run. There are about a
 * hundred rules; running all of them on each subject would take most of the time.
 */
interface RuleIndex {
  readonly frame: RulesByKey<RuleOf<"frame">>;
  readonly body: RulesByKey<RuleOf<"body">>;
  readonly message: {
    readonly [From in Sender]: { readonly [Kind in MessageKind]: RulesByKey<RuleOf<"message">> };
  };
  readonly exchange: RulesByKey<RuleOf<"exchange">>;
}

/** Applies a set of rules to frames, messages and HTTP exchanges. */
export class Judge {
  readonly #rules: readonly Rule[];
  readonly #indexes = new WeakMap<Revision, RuleIndex>();

  constructor(rules: readonly Rule[]) {
    this.#rules = rules;
  }

  /** Judges the bytes of a frame by the rules on frames, or by those on HTTP bodies. */
  frame(judged: Subject<FrameReading>, on: "frame" | "body" = "frame"): readonly Verdict[] {
    const { frame, json, exchange } = judged.subject;
    const index = this.#of(judged.revision);
    const inForce = on === "body" ? rulesFor(exchange?.signIn, index.body) : rulesFor(frame.entry.ch, index.frame);
    return verdictsOf<FrameReading>(inForce, judged, ({ party = partyOf(frame), pointer, range }) => {
      return { party, n: frame.n, pointer, range: range ?? rangeIn(frame, json, pointer) };
    });
  }

  message(judged: Subject<WireMessage>): readonly Verdict[] {
    const { subject, revision } = judged;
    const { frame, pointer: own, kind, from } = subject;
    const inForce = rulesFor(methodOf(subject), this.#of(revision).message[from][kind]);
    return verdictsOf(inForce, judged, ({ party = partyOf(frame), pointer = "", range }) => {
      return { party, n: frame.n, pointer: own + pointer, range: range ?? rangeOf(subject.node, pointer) };
    });
  }

  exchange(judged: Subject<HttpExchange>): readonly Verdict[] {
    const { request, response, signIn } = judged.subject;
    const inForce = rulesFor(signIn, this.#of(judged.revision).exchange);
    return verdictsOf(inForce, judged, (finding, rule) => {
      const { party = rule.party === "server" ? "server" : "client" } = finding;
      const { n } = party === "server" && response !== undefined ? response : request;
      return { party, n, pointer: undefined, range: undefined };
    });
  }

  /** The correction of a finding; undefined if its rule has none. The row must be one of a conversation that was read. */
  correct(verdict: Verdict, { session, frame, messages, exchange }: Row): Correction | undefined {
    const rule = this.#rules.find(({ id }) => id === verdict.rule.id);
    if (rule?.correct === undefined || session === undefined) return undefined;
    const { pointer = "", header, version } = verdict;
    const revision = revisionOf(version) ?? latest;
    const of = <Of>(subject: Of, check: Check<Of>, within = ""): Faulty<Of> => ({
      subject,
      pointer: pointer.slice(within.length),
      header,
      session,
      revision,
      findings: (other) => check(other, session, revision),
    });
    if (rule.on === "exchange") return exchange && rule.correct(of(exchange, rule.check));
    if (rule.on === "message") {
      const message = messages.find((each) => each.holds(pointer));
      return message && rule.correct(of(message, rule.check, message.pointer));
    }
    if (frame === undefined) return undefined;
    const reading: FrameReading = { frame, json: frame.json, continues: undefined, line: 1, exchange };
    return rule.correct(of(reading, rule.check));
  }

  /** The verdicts on the original recording that its copy carries, for these rules. */
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
    const known = this.#indexes.get(revision);
    if (known !== undefined) return known;
    const inForce = this.#rules.filter(({ applies }) => applies?.(revision) ?? true);
    const onMessages = inForce.filter((rule) => rule.on === "message");
    const about = (side: Sender, kind: MessageKind): RulesByKey<RuleOf<"message">> =>
      byKey(onMessages.filter(({ kinds, from = side }) => from === side && (kinds?.includes(kind) ?? true)));
    const sentBy = (side: Sender): RuleIndex["message"][Sender] => ({
      req: about(side, "req"),
      ntf: about(side, "ntf"),
      res: about(side, "res"),
      err: about(side, "err"),
      none: about(side, "none"),
    });
    const index: RuleIndex = {
      frame: byKey(inForce.filter((rule) => rule.on === "frame")),
      body: byKey(inForce.filter((rule) => rule.on === "body")),
      message: { client: sentBy("client"), server: sentBy("server") },
      exchange: byKey(inForce.filter((rule) => rule.on === "exchange")),
    };
    this.#indexes.set(revision, index);
    return index;
  }
}

/** The rules keep their order under each key. */
function byKey<Of extends Rule>(rules: readonly Of[]): RulesByKey<Of> {
  const keys = new Set(rules.flatMap((rule) => keysOf(rule) ?? []));
  const under = (key: string): readonly Of[] => rules.filter((rule) => keysOf(rule)?.includes(key) ?? true);
  return {
    keyed: new Map([...keys].map((key) => [key, under(key)])),
    others: rules.filter((rule) => keysOf(rule) === undefined),
  };
}

/** The keys of the subjects that a rule checks; undefined for all. */
function keysOf({ methods, channels, steps }: Rule): readonly string[] | undefined {
  return methods ?? channels ?? steps;
}

function rulesFor<Rule>(key: string | undefined, { keyed, others }: RulesByKey<Rule>): readonly Rule[] {
  return (key === undefined ? undefined : keyed.get(key)) ?? others;
}

/** The method of a message, or of the request that it answers. */
function methodOf({ kind, method, operation }: WireMessage): string | undefined {
  return kind === "res" || kind === "err" ? operation?.request.method : method;
}

function rangeIn({ bytes }: Frame, { root }: JsonText, pointer: string | undefined): ByteRange {
  return root === undefined || pointer === undefined ? [0, bytes.length] : rangeOf(root, pointer);
}

/** Applies rules to their subject. `placeOf` completes a finding of a rule. */
function verdictsOf<Of>(
  rules: readonly (Rule & { readonly check: Check<Of> })[],
  { subject, session, revision }: Subject<Of>,
  placeOf: (finding: Finding, rule: Rule) => Placed,
): readonly Verdict[] {
  const verdicts: Verdict[] = [];
  for (const rule of rules)
    for (const finding of rule.check(subject, session, revision))
      verdicts.push({ ...common(rule, finding, revision), ...placeOf(finding, rule) });
  return verdicts;
}

/** The part of a verdict that depends on the kind of its subject. */
type Placed = Pick<Verdict, "party" | "n" | "pointer" | "range">;

function common(rule: Rule, { says, header, by = rule }: Finding, revision: Revision): Omit<Verdict, keyof Placed> {
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
