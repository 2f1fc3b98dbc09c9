import { parseArgs } from "node:util";
import { languages, type Project, templates, transports } from "./project.js";

/** The options on the command line. The program asks for the missing ones, or uses their defaults. */
export interface CommandLine {
  readonly folder?: string | undefined;
  readonly name?: string | undefined;
  readonly template?: Project["template"] | undefined;
  readonly language?: Project["language"] | undefined;
  readonly transport?: Project["transport"] | undefined;
  readonly install?: boolean | undefined;
  readonly force: boolean;
  readonly yes: boolean;
  readonly shows?: "help" | "version" | undefined;
}

/** The help page. */
export const help: string = `Usage: npm create parlance@latest [folder] -- [options]

Make a new project in TypeScript or JavaScript, with tests.

Options:
  --template <name>      server | service | client
${columns(templates)}
  --language <language>  ts | js (default: ts); also --ts and --js
  --transport <name>     stdio (default) | http (default of a service) | both
${columns(transports)}
  --name <name>          the name in package.json (default: that of the folder)
  --install              install the dependencies; --no-install does not
  --force                write into a folder that is not empty; files that the
                         template has too are replaced
  -y, --yes              ask nothing: use the defaults of what is left out
  -h, --help             print this page
  -v, --version          print the version

Without a terminal nothing is asked, as with --yes.

Exit codes:
  0    done
  1    the command line is wrong, the folder is not empty, or npm failed
  130  cancelled

Examples:
  npm create parlance@latest
  npm create parlance@latest notes -- --template server --transport both
  npm create parlance@latest . -- --template service --js --yes --install`;

function columns(choices: Readonly<Record<string, string>>): string {
  return Object.entries(choices)
    .map(([name, description]) => `                         ${name.padEnd(8)} ${description}`)
    .join("\n");
}

/** Reads the command line. @throws Error for an unknown option or value */
export function parseCommandLine(args: readonly string[]): CommandLine {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    allowNegative: true,
    options: {
      template: { type: "string", short: "t" },
      language: { type: "string", short: "l" },
      ts: { type: "boolean" },
      js: { type: "boolean" },
      transport: { type: "string" },
      name: { type: "string" },
      install: { type: "boolean" },
      force: { type: "boolean" },
      yes: { type: "boolean", short: "y" },
      help: { type: "boolean", short: "h" },
      version: { type: "boolean", short: "v" },
    },
  });
  const { template, language, ts, js, transport, name, install, force = false, yes = false } = values;
  if (positionals.length > 1) throw new Error(`There is one folder, got ${positionals.join(" and ")}`);
  const named = [language, ts === true && "ts", js === true && "js"].filter((given) => typeof given === "string");
  const problem = name === undefined ? undefined : nameProblem(name);
  if (problem !== undefined) throw new Error(`--name ${name}: ${problem}`);
  if (new Set(named).size > 1) throw new Error(`There is one language, got ${named.join(" and ")}`);
  return {
    folder: positionals[0],
    name,
    template: oneOf("template", templates, template),
    language: oneOf("language", languages, named[0]),
    transport: oneOf("transport", transports, transport),
    install,
    force,
    yes,
    shows: values.help === true ? "help" : values.version === true ? "version" : undefined,
  };
}

function oneOf<Name extends string>(
  option: string,
  choices: Readonly<Record<Name, string>>,
  value: string | undefined,
): Name | undefined {
  const name = namesOf(choices).find((each) => each === value);
  if (name !== undefined || value === undefined) return name;
  throw new Error(`--${option} is ${namesOf(choices).join(", ")}, got ${value}`);
}

/** The names of choices. */
export function namesOf<Name extends string>(choices: Readonly<Record<Name, string>>): readonly Name[] {
  return Object.keys(choices).filter((name): name is Name => Object.hasOwn(choices, name));
}

/** The maximum number of characters of a name. */
const longest = 214;

/** Why npm does not accept a name; undefined if it does. */
function nameProblem(name: string): string | undefined {
  if (name.length > longest) return `a name has at most ${longest} characters`;
  if (/^(@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/.test(name)) return undefined;
  return "a name has lower-case letters, digits, - _ . ~ and may begin with @scope/";
}

/** A name that npm accepts, from the name of a folder. */
export function nameFrom(folder: string): string {
  const name = folder
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9~-]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, longest);
  return name === "" ? "parlance-project" : name;
}
