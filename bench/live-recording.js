/**
 * `node live-recording.js <path> <frames>` writes the beginning of a long recording, says so, and writes the rest after a line on its
 * standard input, as fast as a disk takes it. It stays until it is killed.
 */

import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { writeLongRecording } from "./long-recording.js";

const [path = "", frames = "100000"] = process.argv.slice(2);
const whole = `${path}.whole`;
writeLongRecording(whole, Number(frames));
const text = readFileSync(whole, "utf8");
rmSync(whole);
/** The header, and the first request. */
const begins = text.indexOf("\n", text.indexOf("\n") + 1) + 1;
writeFileSync(path, text.slice(0, begins));
process.stdout.write("written\n");
process.stdin.once("data", () => {
  const chunk = 1 << 20;
  for (let at = begins; at < text.length; at += chunk) appendFileSync(path, text.slice(at, at + chunk));
});
process.stdin.resume();
