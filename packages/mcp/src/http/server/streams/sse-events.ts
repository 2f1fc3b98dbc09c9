/**
 * Formats a JSON-RPC message as an event. Serialised JSON from handlers may contain line breaks, so each line gets its
 * own `data` field.
 */
export function messageEvent(frame: string, id?: string): string {
  const data = frame.includes("\n") || frame.includes("\r") ? frame.replaceAll(/\r\n|\r|\n/g, "\ndata: ") : frame;
  return id === undefined ? `event: message\ndata: ${data}\n\n` : `id: ${id}\nevent: message\ndata: ${data}\n\n`;
}

/** A comment without content, so that intermediaries do not close an idle stream. */
export const keepAliveComment = ": keep-alive\n\n";

/** An event without a message, whose id lets clients resume from here. */
export function primingEvent(id: string): string {
  return `id: ${id}\ndata: \n\n`;
}

/** Sets the reconnection delay of the reader. */
export function retryField(milliseconds: number): string {
  return `retry: ${Math.max(0, Math.round(milliseconds))}\n\n`;
}

/** Announces the URL for POSTs, in HTTP+SSE. */
export function endpointEvent(url: string): string {
  return `event: endpoint\ndata: ${url}\n\n`;
}
