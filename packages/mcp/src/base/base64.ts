/** The number of arguments that every runtime accepts in one call. */
const chunk = 8_192;

/**
 * Bytes in base64, with padding (RFC 4648 §4).
 *
 * @example
 * encodeBase64(new Uint8Array([1, 2, 3])); // "AQID"
 */
export function encodeBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += chunk) {
    binary += String.fromCharCode(...bytes.subarray(at, at + chunk));
  }
  return btoa(binary);
}

/**
 * The bytes of a base64 text; undefined unless `encodeBase64` would write the same text.
 *
 * @example
 * decodeBase64("AQID"); // Uint8Array [1, 2, 3]
 */
export function decodeBase64(text: string): Uint8Array | undefined {
  try {
    const binary = atob(text);
    // `atob` also accepts white space, and texts without padding.
    return btoa(binary) === text ? Uint8Array.from(binary, (character) => character.charCodeAt(0)) : undefined;
  } catch {
    return undefined; // Not base64.
  }
}
