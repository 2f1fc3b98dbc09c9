#!/usr/bin/env node
// npm links the command when it installs the workspace, before anything is built, and it only links a file that exists.
// So this file is in the repository, and dist/ is not.
import { existsSync } from "node:fs";

const program = new URL("../dist/parlance.js", import.meta.url);
if (existsSync(program)) {
  await import(program.href);
} else {
  console.error("✖ parlance is not built\n  → npm run build, in the root of the repository");
  process.exitCode = 1;
}
