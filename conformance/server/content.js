/**
 * The contents of a resource, as part of a message.
 *
 * @param {string} uri
 * @param {string} mimeType
 * @param {string} text
 * @returns {{ readonly type: "resource", readonly resource: { uri: string, mimeType: string, text: string } }}
 */
export function resource(uri, mimeType, text) {
  return { type: "resource", resource: { uri, mimeType, text } };
}
