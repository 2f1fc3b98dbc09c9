#!/usr/bin/env node
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import * as prompts from "@clack/prompts";
import manifest from "../package.json" with { type: "json" };
import { type CommandLine, help, nameFrom, namesOf, parseCommandLine } from "./command-line.js";
import { languages, type Project, projectFiles, templates, transports } from "./project.js";

/** The exit code for a wrong command line, a folder that is not empty, and a failed installation. */
const refused = 1;
/** The exit code after Ctrl-C. */
const cancelled = 130;

/** The package manager that runs this program. */
const manager =
  ["npm", "pnpm", "yarn", "bun"].find((name) => process.env.npm_config_user_agent?.startsWith(`${name}/`)) ?? "npm";

/** The user has pressed Ctrl-C or Escape at a prompt. */
class Cancelled extends Error {}

try {
  process.exitCode = await run(parseCommandLine(process.argv.slice(2)));
} catch (error) {
  if (error instanceof Cancelled) prompts.cancel("Cancelled: nothing was written");
  else console.error(`✖ ${error instanceof Error ? error.message : error}`);
  process.exitCode = error instanceof Cancelled ? cancelled : refused;
}

async function run(given: CommandLine): Promise<number> {
  if (given.shows !== undefined) {
    console.log(given.shows === "help" ? help : manifest.version);
    return 0;
  }
  const asks = process.stdin.isTTY && process.stdout.isTTY && !given.yes;
  if (asks) prompts.intro(`create-parlance ${manifest.version}`);
  const folder = resolve(asks ? await askFolder(given) : (given.folder ?? "parlance-project"));
  const project = asks ? await askProject(given, folder) : withDefaults(given, folder);
  const files = projectFiles(project);
  await requireRoom(folder, files, { asks, force: given.force });
  const installs =
    given.install ?? (asks && (await ask(prompts.confirm({ message: `Install the dependencies with ${manager}?` }))));

  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const code = installs ? await install(folder) : 0;
  const made = `${templates[project.template].split(":")[0]} in ${languages[project.language]}`;
  const steps = nextSteps(folder, project, { isInstalled: installs && code === 0 });
  if (asks) {
    prompts.note(steps.join("\n"), "Next");
    prompts.outro(`${project.name} is ready: ${made}. README.md has the next steps.`);
  } else {
    console.log([`✔ ${project.name} is ready: ${made}`, "", ...steps.map((step) => `  ${step}`)].join("\n"));
  }
  return code === 0 ? 0 : refused;
}

function withDefaults({ name, template = "server", language = "ts", transport }: CommandLine, folder: string): Project {
  return {
    name: name ?? nameFrom(basename(folder)),
    template,
    language,
    transport: transport ?? (template === "service" ? "http" : "stdio"),
  };
}

/** The value of a prompt that was cancelled. */
type Cancellation = Extract<Awaited<ReturnType<typeof prompts.confirm>>, symbol>;

/** The answer to a prompt. @throws Cancelled */
async function ask<Answer extends string | boolean>(prompt: Promise<Answer | Cancellation>): Promise<Answer> {
  const answer = await prompt;
  if (typeof answer === "symbol") throw new Cancelled();
  return answer;
}

async function askFolder({ folder }: CommandLine): Promise<string> {
  if (folder !== undefined) return folder;
  const usual = "parlance-project";
  return ask(prompts.text({ message: "In which folder?", placeholder: usual, defaultValue: usual }));
}

async function askProject(given: CommandLine, folder: string): Promise<Project> {
  const template =
    given.template ?? (await ask(prompts.select({ message: "What do you build?", options: options(templates) })));
  const language =
    given.language ?? (await ask(prompts.select({ message: "In which language?", options: options(languages) })));
  const defaults = withDefaults({ ...given, template, language }, folder);
  if (template === "client") return defaults;
  const initialValue = defaults.transport;
  const transport =
    given.transport ??
    (await ask(prompts.select({ message: "Over which transport?", options: options(transports), initialValue })));
  return { ...defaults, transport };
}

/** The options of a prompt: `label: hint` of each choice. */
function options<Name extends string>(
  choices: Readonly<Record<Name, string>>,
): { value: Name; label: string; hint?: string }[] {
  return namesOf(choices).map((value) => {
    const [label = "", hint] = choices[value].split(": ");
    return hint === undefined ? { value, label } : { value, label, hint };
  });
}

/** Throws if the folder is not empty, unless the user agrees to write into it. A new repository counts as empty. */
async function requireRoom(
  folder: string,
  files: ReadonlyMap<string, string>,
  { asks, force }: { readonly asks: boolean; readonly force: boolean },
): Promise<void> {
  const present = existsSync(folder) ? readdirSync(folder).filter((name) => name !== ".git") : [];
  if (force || present.length === 0) return;
  const shown = relative("", folder) || "This folder";
  if (!asks) throw new Error(`${shown} is not empty: choose another folder, or write into it with --force`);
  const replaced = [...files.keys()].filter((path) => existsSync(join(folder, path)));
  const effect = replaced.length === 0 ? "No file is replaced" : `Replaced: ${replaced.join(", ")}`;
  const message = `${shown} is not empty. Write into it? ${effect}.`;
  if (!(await ask(prompts.confirm({ message, initialValue: false })))) throw new Cancelled();
}

/** Installs the dependencies. Resolves to the exit code. */
function install(folder: string): Promise<number> {
  return new Promise((done) => {
    // A shell finds npm.cmd on Windows. The command contains no external input.
    const child = spawn(`${manager} install`, { cwd: folder, shell: true, stdio: "inherit" });
    child.once("error", (error) => {
      console.error(`✖ ${manager} could not be started: ${error.message}`);
      done(refused);
    });
    child.once("exit", (code) => done(code ?? refused));
  });
}

/** The commands to type, each with its purpose. */
function nextSteps(
  folder: string,
  { template, transport }: Project,
  { isInstalled }: { readonly isInstalled: boolean },
): readonly string[] {
  const shown = relative("", folder);
  const path = /\s/.test(shown) ? `"${shown}"` : shown;
  const run = (script: string) =>
    manager === "npm" ? `npm run ${script}` : `${manager} ${manager === "bun" ? "run " : ""}${script}`;
  const dev = {
    server: transport === "http" ? "serve it, and print every message" : "call the server, and print every message",
    service: "start it, and restart it on changes",
    client: "call the example server",
  }[template];
  const steps: readonly (readonly [string, string])[] = [
    ...(path === "" ? [] : [[`cd ${path}`, ""] as const]),
    ...(isInstalled ? [] : [[`${manager} install`, ""] as const]),
    [run("dev"), dev],
    [manager === "npm" ? "npm test" : run("test"), "run the tests"],
    [run("check"), template === "service" ? "check the types" : "check types and protocol"],
  ];
  const width = Math.max(...steps.map(([command]) => command.length));
  return steps.map(([command, effect]) => (effect === "" ? command : `${command.padEnd(width)}   ${effect}`));
}
