/** A message of JSON-RPC as an event. Every line of it, because a text that a program made may have several. */
export function messageEvent(frame: string, id?: string): string {
  const data = frame.includes("\n") || frame.includes("\r") ? frame.replaceAll(/\r\n|\r|\n/g, "\ndata: ") : frame;
  return id === undefined ? `event: message\ndata: ${data}\n\n` : `id: ${id}\nevent: message\ndata: ${data}\n\n`;
}

/** Says nothing, so that whoever stands between does not take the stream for dead. */
export const keepAliveComment = ": keep-alive\n\n";

/** Tells where a stream that is lost now goes on. It is no message. */
export function primingEvent(id: string): string {
  return `id: ${id}\ndata: \n\n`;
}

/** Asks a reader to wait, before it comes back. */
export function retryField(milliseconds: number): string {
  return `retry: ${Math.max(0, Math.round(milliseconds))}\n\n`;
}

/** Where the client shall post what it has to say. */
export function endpointEvent(url: string): string {
  return `event: endpoint\ndata: ${url}\n\n`;
}
