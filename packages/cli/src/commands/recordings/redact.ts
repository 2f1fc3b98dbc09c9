import { describeRedaction, type Redaction, secretVariables } from "@parlance/wire";
import { type Command, InvalidArgumentError } from "commander";
import { exitCodes } from "../../shared/exit-codes.js";
import type { Invocation } from "../../shared/invocation.js";
import { jsonLine } from "../../shared/output/json-lines.js";
import { count } from "../../shared/output/quantities.js";
import { Pace } from "../../shared/pace.js";
import { recordingHelp } from "../../shared/recordings/find-recording.js";
import { judgedEntries } from "../../shared/recordings/load-recording.js";
import { RecordingReader } from "../../shared/recordings/read-recording.js";
import { recordingTexts, writeNewFileOf } from "../../shared/recordings/recording-text.js";

type SecretsOptions = NonNullable<ConstructorParameters<typeof Redaction>[0]>;

/** The secrets that a user adds to the default ones. */
export interface SecretFlags {
  readonly key?: readonly string[];
  readonly pointer?: readonly string[];
  readonly regex?: readonly RegExp[];
  readonly header?: readonly string[];
}

interface RedactFlags extends SecretFlags {
  readonly output: string;
  readonly json?: true;
}

const about = `Copy a recording without its secrets. Covered values keep their length in bytes: every
three bytes become one █, remaining bytes become *, and digits of numbers become 1, so
that offsets and JSON stay valid. Covered by default: members like password, token,
apiKey and authorization; bearer tokens, JSON Web Tokens and keys of well-known services
anywhere; headers such as authorization, cookie, set-cookie and x-api-key, and
mcp-session-id. A secret found in one place is covered everywhere. Schemas of tools and
of forms hold no secrets, and do not change.`;

const exits = `Exit codes:
  0  the copy is written
  1  the command line is wrong
  6  the recording is damaged`;

const examples = `Examples:
  parlance redact run.parlance.jsonl -o share.parlance.jsonl
  parlance redact last --key email --regex '[0-9]{16}' -o share.parlance.jsonl
  parlance redact last --pointer '/result/content/*/text' -o share.jsonl`;

/** Adds `parlance redact`. */
export function registerRedact(program: Command, invocation: Invocation): void {
  const command = program
    .command("redact")
    .summary("copy a recording without its secrets")
    .description(about)
    .argument("<recording>", "see below")
    .requiredOption("-o, --output <file>", "the copy, a new file")
    .option("--json", "print one JSON object, for programs");
  addSecretOptions(command)
    .addHelpText("after", `\n${recordingHelp}\n\n${exits}\n\n${examples}`)
    .action((path: string, flags: RedactFlags) => invocation.run(() => redactFile(path, flags, invocation)));
}

/** Adds the options that name further secrets. */
export function addSecretOptions(command: Command): Command {
  return command
    .option("--key <name>", "also cover the values of members with this name; may be repeated", named)
    .option(
      "--pointer <pointer>",
      "also cover this place of every message; * is any one token; may be repeated",
      pointer,
    )
    .option("--regex <regex>", "cover the matches of this expression in any text; may be repeated", regex)
    .option("--header <name>", "also cover this HTTP header; may be repeated", named);
}

/** The secrets named by flags, and the values of variables with secret names in the environment of this program. */
export function secretOptions({ key = [], pointer = [], regex = [], header = [] }: SecretFlags): SecretsOptions {
  return { keys: key, pointers: pointer, patterns: regex, headers: header, values: secretVariables(process.env) };
}

function named(text: string, others: readonly string[] = []): readonly string[] {
  if (text.trim() !== "") return [...others, text];
  throw new InvalidArgumentError("It must be a name.");
}

function pointer(text: string, others: readonly string[] = []): readonly string[] {
  if (text.startsWith("/")) return [...others, text];
  throw new InvalidArgumentError("It must be a JSON pointer from a message, like /params/arguments/card.");
}

function regex(text: string, others: readonly RegExp[] = []): readonly RegExp[] {
  const pattern = regexOf(text);
  if (pattern !== undefined) return [...others, pattern];
  throw new InvalidArgumentError("It is not a regular expression of JavaScript.");
}

function regexOf(text: string): RegExp | undefined {
  try {
    return new RegExp(text, "gu");
  } catch {
    return undefined;
  }
}

async function redactFile(word: string, flags: RedactFlags, { out, interrupt }: Invocation): Promise<number> {
  const { output } = flags;
  const source = await RecordingReader.find(word, new Pace(interrupt, `${output} is not written`));
  const options = secretOptions(flags);
  const words = describeRedaction(options);
  const redacted = await judgedEntries(source, options);
  await writeNewFileOf(output, recordingTexts(redacted.lists()));
  const { covered: pieces } = redacted;
  if (flags.json === true) out.print(jsonLine({ output, covered: pieces, redact: words }));
  else out.print(`${out.style.green("✔")} ${output}: ${count(pieces, "piece")} covered`);
  return exitCodes.clean;
}
