import { type Revision, revisions } from "@parlance/mcp/protocol";
import { leaving, probes } from "../check/examination/examine.js";
import type { Probe } from "../check/examination/probe.js";
import { type Explanation, facts } from "./explanation.js";
import { sentencesOf, strongestOf, titleOf } from "./quoted-sentences.js";
import { spanText } from "./spoken-in.js";

const all: readonly Probe[] = [...probes, leaving];

/** The ids of all probes. */
export const probeIds: readonly string[] = all.map(({ id }) => id);

/** What a probe asks of a server, by which sentences, in which revisions and over which carriers. */
export function explainProbe(word: string): Explanation | undefined {
  const probe = all.find(({ id }) => id === word.toUpperCase());
  if (probe === undefined) return undefined;
  const { id, demands, doubt, applies = () => true } = probe;
  const [overChannel, overHttp] = [havingOf("channel"), havingOf("http")];
  const having = revisions.filter((each) => overChannel.includes(each) || overHttp.includes(each));
  const sentences = sentencesOf(probe, having);
  return {
    topic: "probe",
    name: id,
    title: titleOf[strongestOf(probe, sentences)],
    says: demands,
    facts: facts({
      in: spanText(having.map(({ version }) => version)),
      over:
        overChannel.length === 0 ? "HTTP" : overHttp.length === 0 || probe === leaving ? "stdio" : "every transport",
      "a note": doubt === undefined ? undefined : `because ${doubt}`,
    }),
    sentences,
    wire: [],
    spec: [...new Set(sentences.map(({ spec }) => spec))],
  };

  function havingOf(carrier: "channel" | "http"): readonly Revision[] {
    return revisions.filter((revision) => applies(revision, carrier));
  }
}
