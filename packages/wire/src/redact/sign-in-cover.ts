import type { FrameEntry, HttpEntry } from "../recording/entry.js";
import { bytesOf, recordedBytes } from "../recording/frame.js";
import { Redaction } from "./redact.js";

/** Put before a form, so that each pair has a separator before it; the form is one byte longer then. */
const separator = "&".charCodeAt(0);

/**
 * Covers the secrets in the exchanges of sign-ins before they are recorded: codes, verifiers, states, tokens, assertions, client
 * secrets, private keys. A secret of one exchange is also covered in all later ones, wherever it occurs. Each piece keeps its
 * length.
 *
 * @example
 * const cover = new SignInCover();
 * cover.body(bytes); // grant_type=authorization_code&code=████
 */
export class SignInCover {
  readonly #redaction = new Redaction({});

  /** The head of a request or a response without its secrets. */
  head<Head extends Pick<HttpEntry, "ph" | "url" | "headers" | "why">>(head: Head): Head {
    const entry: HttpEntry = { k: "h", n: 0, t: 0, s: "", x: 0, ...head };
    this.#redaction.learn(entry);
    const { url, headers, why } = this.#redaction.cover(entry);
    const covered = {
      ...(url !== undefined && { url }),
      ...(headers && { headers }),
      ...(why !== undefined && { why }),
    };
    return { ...head, ...covered };
  }

  /** A whole body without its secrets: a form, JSON, or any text. */
  body(bytes: Uint8Array): Uint8Array {
    const form = new Uint8Array(bytes.length + 1);
    form[0] = separator;
    form.set(bytes, 1);
    return isForm(bytes) ? this.#covered(form).subarray(1) : this.#covered(bytes);
  }

  #covered(bytes: Uint8Array): Uint8Array {
    const place = { k: "f", n: 0, s: "", t: 0, d: "c2s", ch: "http", len: bytes.length, nl: "" } as const;
    const entry: FrameEntry = { ...place, ...recordedBytes(bytes) };
    this.#redaction.learn(entry);
    return bytesOf(this.#redaction.cover(entry));
  }
}

const decoder = new TextDecoder();

/** Whether a body begins like a form: with a name and an equals sign. */
function isForm(bytes: Uint8Array): boolean {
  return /^[\w.+%-]+=/.test(decoder.decode(bytes.subarray(0, 128)));
}
