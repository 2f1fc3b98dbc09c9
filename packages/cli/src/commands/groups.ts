import type { Command } from "commander";

/** What commands are for, in the order of the help page: each of them has its place here. */
const groups: readonly (readonly [title: string, names: readonly string[]])[] = [
  ["Attach", ["talk", "run", "tap", "proxy", "bridge", "wrap", "unwrap"]],
  ["Read", ["ls", "tail", "show", "list", "explain", "prune"]],
  ["Judge", ["check", "doctor"]],
  ["Ask", ["call", "read", "prompt", "complete", "subscribe"]],
  ["Act", ["send", "replay", "diff", "export", "redact"]],
  ["Serve", ["serve"]],
  ["Help", ["completion", "help"]],
];

/** Puts the commands of the program into their groups, and in their order. */
export function groupCommands(program: Command): void {
  const order = groups.flatMap(([, names]) => names);
  for (const command of program.commands) {
    const [title] = groups.find(([, names]) => names.includes(command.name())) ?? [];
    if (title !== undefined) command.helpGroup(`${title}:`);
  }
  // Commander prints its array as it is, and offers no other order than that of the alphabet.
  (program.commands as Command[]).sort((a, b) => order.indexOf(a.name()) - order.indexOf(b.name()));
}
