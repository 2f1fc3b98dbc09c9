import type { ChannelReceiver } from "../jsonrpc/channel.js";

const beginsLikeMessage = /^\s*[{[]/;

/**
 * Passes frames on only if the first one starts like a JSON-RPC message; otherwise calls `drop` and discards
 * everything.
 *
 * A web page can make a browser connect to any local port and send lines of its choice, in the body of an HTTP request
 * or in the plain text of a TLS handshake. But it cannot choose the first bytes.
 */
export function messagesOnly(receiver: ChannelReceiver, drop: (error: Error) => void): ChannelReceiver {
  let isGenuine: boolean | undefined;
  const letsIn = (head: string): boolean => {
    if (isGenuine === undefined) {
      isGenuine = beginsLikeMessage.test(head);
      if (!isGenuine)
        drop(new Error("the connection does not start with a JSON-RPC message: it uses another protocol"));
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
