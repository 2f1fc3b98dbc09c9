#!/usr/bin/env node
import { parseTapArguments } from "./commands/tap/arguments.js";
import { packageVersion } from "./shared/package-version.js";

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
else if (tapped === undefined) await (await import("./commands/program.js")).main();
else await (await import("./commands/tap/tap.js")).tap(tapped);
