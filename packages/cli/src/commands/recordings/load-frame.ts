import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { Conversation, RecordingDecoder } from "@parlance/wire";
import { contextOfFrame } from "./frame-context.js";

/**
 * As much of a recording as one frame of it needs to be judged and paired. Undefined where all of it must be read, and for what
 * cannot be read like that.
 */
export async function loadFrame(path: string, n: number): Promise<Conversation | undefined> {
  const file = path === "-" ? undefined : await contentOf(path).catch(() => undefined); // Another reading tells why.
  const lines = file === undefined ? undefined : contextOfFrame(file, n);
  if (lines === undefined) return undefined;
  const conversation = new Conversation();
  const decoder = new RecordingDecoder();
  for (const { entry } of [...decoder.push(lines), ...decoder.end()]) if (entry !== undefined) conversation.push(entry);
  conversation.finish();
  return conversation.rows.some((row) => row.n === n) ? conversation : undefined;
}

async function contentOf(path: string): Promise<Buffer> {
  const bytes = await readFile(path);
  return bytes[0] === 0x1f && bytes[1] === 0x8b ? promisify(gunzip)(bytes) : bytes;
}
