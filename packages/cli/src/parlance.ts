#!/usr/bin/env node
import "./shared/node-version.js";

import { parseTapArguments } from "./commands/tap/arguments.js";
import { packageVersion } from "./shared/package-version.js";

// Both start without the rest: a host waits for its server, and so for a tap; installers and scripts ask for the version.
const argv = process.argv.slice(2);
const tapped = parseTapArguments(argv);
if (argv[0] === "--version" || argv[0] === "-V") process.stdout.write(`${packageVersion}\n`);
else if (tapped === undefined) await import("./commands/program.js");
else await (await import("./commands/tap/tap.js")).tap(tapped);
