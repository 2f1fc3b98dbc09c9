/** So many arguments every runtime takes in one call. */
const chunk = 8_192;

/** Bytes in base64, with padding (RFC 4648 §4). */
export function encodeBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += chunk) {
    binary += String.fromCharCode(...bytes.subarray(at, at + chunk));
  }
  return btoa(binary);
}
