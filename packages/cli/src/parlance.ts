#!/usr/bin/env node
import module from "node:module";
import { join } from "node:path";
import { parseTapArguments } from "./commands/tap/arguments.js";
import { packageVersion } from "./shared/package-version.js";
import { cacheDirectory } from "./shared/user-directories.js";

// Checked before anything else is loaded: other modules fail on an old Node without a clear message.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`parlance needs Node.js 20.19 or newer, and this is ${process.version}\n`);
  process.exit(1);
}

// Both start without the rest of the program: a host waits for the tap, and installers and scripts call --version.
const argv = process.argv.slice(2);
const tapped = parseTapArguments(argv);
if (argv[0] === "--version" || argv[0] === "-V") process.stdout.write(`${packageVersion}\n`);
else if (tapped !== undefined) await (await import("./commands/tap/tap.js")).tap(tapped);
else {
  keepCompiledCode(process.env);
  await (await import("./commands/program.js")).main();
}

/** From Node 22.8 on, the compiled code of the program is kept for its next start; `NODE_DISABLE_COMPILE_CACHE=1` turns that off. */
function keepCompiledCode(env: NodeJS.ProcessEnv): void {
  const { enableCompileCache } = module as { enableCompileCache?(folder: string): unknown }; // The types are those of Node 20.
  // Not in the folder for temporary files, where Node keeps it by default: others may write there, and the code is run.
  const directory = cacheDirectory(env);
  if (directory !== undefined) enableCompileCache?.(join(directory, "compiled"));
}
