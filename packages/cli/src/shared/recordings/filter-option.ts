import { compileFilter, type Expectation, parseExpectation, parseFilter } from "@parlance/wire";
import { type Failure, usageFailure } from "../failure.js";

type FilterFault = Extract<ReturnType<typeof parseFilter>, { ok: false }>["fault"];
type RowTest = ReturnType<typeof compileFilter>;

/** The syntax of a filter, for help pages. */
export const filterHelp = `A <filter> joins conditions: tool:search lat>500ms -verdict:ok
  n t dir kind method tool uri prompt id pair lat size verdict rule who session
  code status header.<name> stderr note, and JSON pointers: /result/isError=true
  field:value   equal, with * and ?, or a range: t:1.2..1.9
  = != > < >= <= ~regex has     word "words" /regex/i
  pair(44)      the request in frame 44, and its response
  call(7)       all that belongs to requests with the id 7
  and (or a space), or, not (or -), parentheses`;

/** Parses a filter of the command line. @throws Failure that points at the error */
export function readFilter(text: string): RowTest {
  const parsed = parseFilter(text);
  if (parsed.ok) return compileFilter(parsed.filter);
  throw unreadable("the filter cannot be read", text, parsed.fault);
}

/** Parses an expectation of the command line. @throws Failure that points at the error */
export function readExpectation(text: string): Expectation {
  const parsed = parseExpectation(text);
  if (parsed.ok) return parsed.expectation;
  throw unreadable("the expectation cannot be read", text, parsed.fault);
}

function unreadable(what: string, text: string, { at, says }: FilterFault): Failure {
  // One column for each character, so that the caret is below its place.
  const line = text.replace(/\s/g, " ");
  return usageFailure(`${what}: ${says}\n${line}\n${" ".repeat(at)}^`);
}
