#!/usr/bin/env node
import "./shared/node-version.js";

import { parseTapArguments } from "./commands/tap/arguments.js";

// A host waits for its server, and so for a tap: that one starts with nothing but what it needs.
const asked = parseTapArguments(process.argv.slice(2));
if (asked === undefined) await import("./main.js");
else await (await import("./commands/tap/tap.js")).tap(asked);
