import { readFileSync } from "node:fs";
import { usageFailure } from "../../shared/failure.js";

/** The forms of a payload, for help pages. */
export const payloadHelp = `A <message> is one of
  @path/to/file        the bytes of the file, as they are
  -                    the bytes of stdin, up to its end
  'text'               the text itself, in UTF-8`;

/** The exact bytes of a payload argument. @throws Failure for an unreadable file */
export async function payloadOf(word: string, isLine: boolean): Promise<Uint8Array> {
  const bytes = await bytesOf(word);
  return isLine ? Buffer.concat([bytes, Buffer.from("\n")]) : bytes;
}

async function bytesOf(word: string): Promise<Uint8Array> {
  if (word === "-") return bytesOfStdin();
  if (!word.startsWith("@")) return Buffer.from(word);
  try {
    return readFileSync(word.slice(1));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw usageFailure(`${word.slice(1)} cannot be read: ${why}`, "behind @ stands a file; '…' is a text of its own");
  }
}

async function bytesOfStdin(): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Uint8Array); // Without an encoding, that is what it gives.
  return Buffer.concat(chunks);
}
