import type { Examination, ProbeResult, RevisionResult } from "../examination/examine.js";
import { specOfProbe } from "../examination/probe.js";
import { cut, left } from "./columns.js";
import { count } from "./quantities.js";
import type { Look } from "./rows.js";

const idWidth = 5;

/** What came of an examination, for a person: each revision, and of its probes those that tell something. */
export function examinationLines({ revisions, verdicts }: Examination, look: Look, all: boolean): readonly string[] {
  const spoken = revisions.filter(({ notSpoken }) => notSpoken === undefined);
  const lines = revisions.flatMap((result) => revisionLines(result, look, all));
  const broken = spoken.flatMap(({ results }) => results.filter(isBroken)).length;
  const bad = verdicts.filter(({ level }) => level === "bad").length;
  const clean = broken === 0 && bad === 0 && spoken.length > 0;
  const mark = clean ? look.style.green("✔") : look.style.red("✖");
  const parts = [
    spoken.length === 0 ? "no revision is spoken" : count(spoken.length, "revision"),
    count(
      spoken.reduce((sum, { results }) => sum + results.length, 0),
      "probe",
    ),
    `${broken} failed`,
    `${bad} ${bad === 1 ? "violation" : "violations"} in its messages`,
  ];
  return [...lines, "", `${mark} ${parts.join(" · ")}`];
}

function revisionLines({ revision, notSpoken, results }: RevisionResult, look: Look, all: boolean): readonly string[] {
  const { style, width } = look;
  if (notSpoken !== undefined) return [cut(`${revision.version}  not spoken: ${notSpoken}`, width)].map(style.dim);
  const passed = results.filter(({ finding }) => finding.is === "passed").length;
  const skipped = results.filter(({ finding }) => finding.is === "skipped").length;
  const words = [`${passed} of ${results.length} passed`, ...(skipped === 0 ? [] : [`${skipped} not applicable`])];
  const shown = results.filter(({ finding }) => all || finding.is === "failed");
  return [
    `${style.bold(revision.version)}  ${words.join(", ")}`,
    ...shown.flatMap((result) => resultLines(result, revision, look)),
  ];
}

function resultLines(
  { probe, finding, frames }: ProbeResult,
  revision: RevisionResult["revision"],
  look: Look,
): readonly string[] {
  const { style, width } = look;
  const [mark, paint] =
    finding.is === "passed"
      ? (["✔", style.green] as const)
      : finding.is === "skipped"
        ? (["·", style.dim] as const)
        : probe.weight === "must"
          ? (["✖", style.red] as const)
          : (["!", style.yellow] as const);
  const head = `  ${paint(mark)} ${left(probe.id, idWidth)}${cut(probe.demands, width - idWidth - 4)}`;
  if (finding.is === "passed") return [head];
  const indent = " ".repeat(idWidth + 4);
  if (finding.is === "skipped") return [head, style.dim(`${indent}${cut(finding.why, width - indent.length)}`)];
  const [first, last] = frames;
  const where = first < last ? `frames ${first}–${last}` : `frame ${first}`;
  return [
    head,
    `${indent}${cut(finding.says, width - indent.length)}`,
    style.dim(`${indent}${cut(`${where}  ${specOfProbe(probe, revision)}`, width - indent.length)}`),
  ];
}

/** Whether a result breaks what the specification demands, not only what it recommends. */
export function isBroken({ probe, finding }: ProbeResult): boolean {
  return finding.is === "failed" && probe.weight === "must";
}
