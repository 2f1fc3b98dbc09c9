import { Argument, type Command, type Option } from "commander";
import { exitCodes } from "../../shared/exit-codes.js";
import type { Invocation } from "../../shared/invocation.js";

const help = `The script completes commands, options, hosts, files, the names of configured
servers, which parlance completion targets prints, and after parlance call those
of saved requests, which parlance completion requests prints. To load it in
every shell, add the line for your shell to its start-up file:
  ~/.bashrc                     source <(parlance completion bash)
  ~/.zshrc, after compinit      source <(parlance completion zsh)
  ~/.config/fish/config.fish    parlance completion fish | source

Exit codes:
  0  printed
  1  the command line is wrong

Examples:
  source <(parlance completion bash)
  parlance completion fish > ~/.config/fish/completions/parlance.fish`;

/** The names that completion scripts ask for at run time. */
const readers = {
  targets: async () => (await import("../../shared/target/configured-target.js")).configuredNames(),
  requests: async () => {
    const { SavedRequests } = await import("../../shared/requests/saved-requests.js");
    return (await new SavedRequests().list()).flatMap((each) => ("fault" in each ? [] : `@${each.name}`));
  },
};
type Asked = keyof typeof readers;

function isAsked(word: Shell | Asked): word is Asked {
  return Object.hasOwn(readers, word);
}

/** Adds `parlance completion`. */
export function registerCompletion(program: Command, { out, run }: Invocation): void {
  program
    .command("completion")
    .summary("print a script for completion in a shell")
    .description("Print a script with which a shell completes the command line of parlance.")
    .usage(`[options] ${Object.keys(scripts).join("|")}`)
    .addArgument(new Argument("<shell>").choices([...Object.keys(scripts), ...Object.keys(readers)]))
    .addHelpText("after", `\n${help}`)
    .action((word: Shell | Asked) =>
      run(async () => {
        if (isAsked(word)) out.print(...(await readers[word]()).filter((name) => !/\s/.test(name)));
        else out.print(scripts[word](commandTable(program)));
        return exitCodes.clean;
      }),
    );
}

/** The completion script of each supported shell. */
const scripts = { bash, zsh, fish };
type Shell = keyof typeof scripts;

function bash({ options, commands }: CommandTable): string {
  const row = (name: string, words: readonly string[], flags: readonly Option[], targets = false): string =>
    `    ${name}) words=${quoted(words.join(" "))} options=${quoted(flags.flatMap(spellings).join(" "))}${targets ? " targets=1" : ""} ;;`;
  const all = [...options, ...commands.flatMap((command) => command.options)];
  const valued = new Set(all.flatMap((option) => (option.required ? spellings(option) : [])));
  return `# Completion of parlance for bash:  source <(parlance completion bash)
_parlance() {
  local word= command= words= options= targets= place=0 i each joined= typed=()
  for ((i = 0; i <= COMP_CWORD; i++)); do # Bash takes host:server and @request apart.
    each=\${COMP_WORDS[i]}
    if ((i > 1)) && [[ $each == : || $joined == : || $joined == @ ]]; then typed[\${#typed[@]}-1]+=$each
    else typed+=("$each"); fi
    joined=$each
  done
  local last=$((\${#typed[@]} - 1))
  word=\${typed[last]}
  local valued=${quoted([...valued].join(" "))}
  COMPREPLY=()
  for ((i = 1; i < last; i++)); do
    case \${typed[i]} in
      --) # Behind it stands a command of its own.
        ((i == last - 1)) && COMPREPLY=($(compgen -c -- "$word"))
        return ;;
      -*) [[ " $valued " == *" \${typed[i]} "* ]] && i=$((i + 1)) ;; # The next word is its value.
      *) if [[ -z $command ]]; then command=\${typed[i]}; else place=$((place + 1)); fi ;;
    esac
  done
  ((i > last)) && return
  case $command in
${row(
  "''",
  commands.map(({ name }) => name),
  options,
)}
${commands.map(({ name, words, options: own, targets }) => row(name, words, own, targets)).join("\n")}
  esac
  [[ -n $targets && $word != -* ]] && ((place == 0)) && words=$(parlance completion targets 2>/dev/null)
  ((place > 0)) && words=
  [[ $command == call && $word == @* ]] && words=$(parlance completion requests 2>/dev/null)
  [[ $word == -* ]] && words=$options
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  # What bash has taken apart is typed already.
  [[ $word == @* && $COMP_WORDBREAKS == *@* ]] && COMPREPLY=("\${COMPREPLY[@]#@}")
  [[ $word == *:* && $COMP_WORDBREAKS == *:* ]] && COMPREPLY=("\${COMPREPLY[@]#"\${word%"\${word##*:}"}"}")
}
# What is not completed here is the name of a file.
complete -o default -F _parlance parlance`;
}

function zsh({ options, commands }: CommandTable): string {
  const described = commands.map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}`);
  return `#compdef parlance
# Completion of parlance for zsh:  source <(parlance completion zsh)
_parlance() {
  local -a verbs=( # Not "commands": that is an array of the shell itself.
${described.join("\n")}
  )
  local at=\${words[(i)--]}
  if ((at < CURRENT)); then # Behind it stands a command of its own.
    shift at words
    ((CURRENT -= at))
    _normal
    return
  fi
  if ((CURRENT == 2)); then
    if [[ $PREFIX == -* ]]; then _arguments ${options.flatMap(zshOption).join(" ")}
    else _describe command verbs
    fi
    return
  fi
  shift words
  ((CURRENT--))
  case $words[1] in
${commands.map(zshCase).join("\n")}
  esac
}
_parlance_targets() {
  local -a names
  names=(\${(f)"$(parlance completion targets 2>/dev/null)"})
  compadd -a names
  _files
}
_parlance_requests() {
  local -a names
  names=(\${(f)"$(parlance completion requests 2>/dev/null)"})
  compadd -a names
  _files
}
compdef _parlance parlance`;
}

function zshCase({ name, words, options, targets }: CommandRow): string {
  const known = words.length === 0 ? [] : [quoted(`1:word:(${words.join(" ")})`)];
  const second = name === "call" ? [quoted("*:argument:_parlance_requests")] : [quoted("*:file:_files")];
  const first = targets ? [quoted("1:target:_parlance_targets")] : known;
  const specs = [...options.flatMap(zshOption), ...first, ...second];
  return `    ${name}) _arguments ${specs.join(" ")} ;;`;
}

function zshOption(option: Option): readonly string[] {
  const words = option.description.replace(/[[\]\\:]/g, "\\$&");
  const value = option.required ? ":value:_files" : option.optional ? "::value:_files" : "";
  return spellings(option).map((spelling) => quoted(`*${spelling}[${words}]${value}`));
}

function fish({ options, commands }: CommandTable): string {
  const line = (condition: string, rest: string): string => `complete -c parlance -n ${quoted(condition)} ${rest}`;
  const top = "__fish_use_subcommand";
  return [
    "# Completion of parlance for fish:  parlance completion fish | source",
    ...options.map((option) => line(top, fishOption(option))),
    ...commands.flatMap(({ name, summary, words, options: own, targets }) => {
      const inside = `__fish_seen_subcommand_from ${name}`;
      return [
        line(top, `-f -a ${name} -d ${fishQuoted(summary)}`),
        ...own.map((option) => line(inside, fishOption(option))),
        ...(targets ? [line(inside, "-a '(parlance completion targets 2>/dev/null)'")] : []),
        ...(name === "call" ? [line(inside, "-a '(parlance completion requests 2>/dev/null)'")] : []),
        ...(words.length === 0 ? [] : [line(inside, `-f -a ${quoted(words.join(" "))}`)]),
      ];
    }),
  ].join("\n");
}

function fishOption(option: Option): string {
  const names = spellings(option).map((name) =>
    name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`,
  );
  return [...names, ...(option.required ? ["-r"] : []), `-d ${fishQuoted(option.description)}`].join(" ");
}

/** The short and the long name of an option, such as `-h` and `--help`. */
function spellings({ short, long }: Option): readonly string[] {
  return [short, long].filter((name) => name !== undefined);
}

/** Quotes a text as one word for bash and zsh. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function fishQuoted(text: string): string {
  return `'${text.replace(/['\\]/g, "\\$&")}'`;
}

/** All commands with their options and values. */
interface CommandTable {
  readonly options: readonly Option[];
  readonly commands: readonly CommandRow[];
}

interface CommandRow {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly Option[];
  /** The possible first words after the command; empty if any word is allowed. */
  readonly words: readonly string[];
  /** Whether the first word after the command is a target, so that names of configured servers are completed. */
  readonly targets: boolean;
}

/** Reads the table from the registered commands. */
function commandTable(program: Command): CommandTable {
  const help = program.createHelp();
  const commands = help.visibleCommands(program);
  const names = commands.map((command) => command.name());
  return {
    options: help.visibleOptions(program),
    commands: commands.map((command) => ({
      name: command.name(),
      summary: command.summary() || command.description(),
      options: help.visibleOptions(command),
      words: command.name() === "help" ? names : (command.registeredArguments[0]?.argChoices ?? []),
      targets: command.registeredArguments.some((argument) => argument.name() === "target"),
    })),
  };
}
