import { type Command, InvalidArgumentError } from "commander";
import { exitCodes } from "../../shared/exit-codes.js";
import { messageOf, unreachableFailure } from "../../shared/failure.js";
import { aborted } from "../../shared/interrupt.js";
import type { Invocation } from "../../shared/invocation.js";
import { jsonLine } from "../../shared/output/json-lines.js";
import type { Output } from "../../shared/output/terminal.js";
import { filterHelp, readFilter } from "../../shared/recordings/filter-option.js";
import { recordingHelp } from "../../shared/recordings/find-recording.js";
import type { SavedRequests } from "../../shared/requests/saved-requests.js";
import { Acting, type Examine } from "./acting.js";
import type { CommandTargetWords } from "./offers.js";
import type { Interception } from "./page-interception.js";
import { type PageServer, servePage } from "./page-server.js";
import type { Shown } from "./page-service.js";
import { Recordings } from "./recordings.js";

interface OpenFlags {
  readonly port?: number;
  readonly frame?: number;
  readonly filter?: string;
  readonly json?: true;
}

const about = `Show a recording in the browser: the frames with their times, the bytes beside
the JSON, and the broken rules. A live recording is followed. With two
recordings, the second is shown, with its differences from the first. The page
is served to this machine only, and its address has a secret token. Ctrl-C ends
it.`;

const examples = `Exit codes:
  0  ended by Ctrl-C or SIGTERM
  1  the command line is wrong, or there is no such recording
  3  the port is in use, or may not be used

Examples:
  parlance open
  parlance open run.parlance.jsonl
  parlance open before.parlance.jsonl after.parlance.jsonl
  parlance open run.parlance.jsonl --frame 44 --filter 'tool:search'
  parlance tap -- node server.js & parlance open last`;

/** Adds `parlance open`. */
export function registerOpen(program: Command, invocation: Invocation): void {
  program
    .command("open")
    .summary("show a recording in the browser")
    .description(about)
    .usage("[options] [recording] [after]")
    .argument("[recording]", "see below (default: last)")
    .argument("[after]", "another recording, to compare with it")
    .option("--port <port>", "listen on this port of 127.0.0.1 (default: any free one)", port)
    .option("--frame <n>", "select the frame with this number", frameNumber)
    .option("--filter <filter>", "show only what matches: see below")
    .option("--json", "print one JSON object, for programs")
    .addHelpText("after", `\n${recordingHelp}\n\n${filterHelp}\n\n${examples}`)
    .action((word: string | undefined, after: string | undefined, flags: OpenFlags) =>
      invocation.run(() => open(word ?? "last", after, flags, invocation)),
    );
}

async function open(
  word: string,
  after: string | undefined,
  flags: OpenFlags,
  { out, interrupt }: Invocation,
): Promise<number> {
  const recordings = await (after === undefined
    ? Recordings.of(word, undefined, interrupt)
    : Recordings.of(after, word, interrupt));
  const shows = placeOf(flags);
  const page = await listening({ recordings }, flags.port);
  const url = `${page.url}${shows}`;
  if (flags.json === true) out.print(jsonLine({ url }));
  else out.print(`${out.style.bold("open")} ${url}`, out.style.dim("Ctrl-C ends it"));
  await aborted(interrupt.stop);
  await page.close();
  return exitCodes.clean;
}

/** The part of the address that names the first view of the page. @throws Failure for a filter that cannot be read */
function placeOf({ frame, filter }: OpenFlags): string {
  if (filter !== undefined) readFilter(filter);
  const query = filter === undefined ? "" : `?${new URLSearchParams({ q: filter })}`;
  const path = frame === undefined ? "" : `/${frame}`;
  return path + query === "" ? "" : `&${path}${query}`;
}

/** The additions to a recording on its page. */
interface ShownBeside extends Pick<Shown, "interception" | "replay"> {
  /** The recording to compare it with. */
  readonly before?: string | undefined;
}

/** Shows a recording that is being written; prints the address of the page. @throws Failure */
export function showRecording(
  path: string,
  { before, ...beside }: ShownBeside,
  { err, interrupt }: Invocation,
): Promise<PageServer> {
  return show({ recordings: new Recordings(path, interrupt, before), ...beside }, err);
}

/**
 * Shows the recording of a conversation of this command, and acts on its server; prints the address of the page. @throws Failure
 */
export async function showConversation(
  path: string,
  words: CommandTargetWords,
  examine: Examine,
  requests: SavedRequests,
  { err, interrupt }: Invocation,
  interception?: Interception,
): Promise<{ readonly page: PageServer; readonly acting: Acting }> {
  const recordings = new Recordings(path, interrupt);
  const acting = new Acting(words, recordings, examine);
  return { page: await show({ recordings, acting, requests, interception }, err), acting };
}

async function show(shown: Shown, err: Output): Promise<PageServer> {
  const page = await listening(shown);
  err.print(`${err.style.bold("open")} ${page.url}`);
  return page;
}

/** Serves the page. @throws Failure */
async function listening(shown: Shown, wanted = 0): Promise<PageServer> {
  try {
    return await servePage(shown, wanted);
  } catch (error) {
    const message = `cannot listen at 127.0.0.1:${wanted}: ${messageOf(error)}`;
    throw unreachableFailure(message, "without --port it takes any port that is free", error);
  }
}

function frameNumber(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Write the number of a frame, like 44.");
}

function port(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError("Write a port, like 8080.");
}
