#!/usr/bin/env node
import "./node-version.js";

import { parseTapArguments } from "./tap/arguments.js";

// A host waits for its server, and so for a tap: that one starts with nothing but what it needs.
const asked = parseTapArguments(process.argv.slice(2));
if (asked === undefined) await import("./main.js");
else await (await import("./tap/tap.js")).tap(asked);
