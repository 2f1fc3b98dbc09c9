import type { ChannelReceiver } from "../jsonrpc/channel.js";

const beginsLikeMessage = /^\s*[{[]/;

/**
 * Passes everything on, if the first thing that comes begins like a message of JSON-RPC; else nothing, and `drop` is told.
 *
 * A web page can make a browser connect to any port of its machine, and write lines of its choice in the body of an HTTP
 * request, or in what a TLS handshake sends in the clear. It cannot choose how the connection begins.
 */
export function messagesOnly(receiver: ChannelReceiver, drop: (error: Error) => void): ChannelReceiver {
  let isGenuine: boolean | undefined;
  const letsIn = (head: string): boolean => {
    if (isGenuine === undefined) {
      isGenuine = beginsLikeMessage.test(head);
      if (!isGenuine) drop(new Error("the connection does not begin with a message: it is of another protocol"));
    }
    return isGenuine;
  };
  return {
    budget: receiver.budget,
    frame(text) {
      if (letsIn(text)) receiver.frame(text);
    },
    refuse(refusal) {
      if (letsIn(refusal.head)) receiver.refuse(refusal);
    },
    end: (error) => receiver.end(error),
  };
}
