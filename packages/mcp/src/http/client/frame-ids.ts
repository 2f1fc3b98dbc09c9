import { type MemberTexts, membersOf, membersOfElements } from "../../jsonrpc/codec/scan.js";

/** The method and ids of an outgoing frame. Ids are JSON literals: `1` and `"1"` differ. */
export interface FrameIds {
  /** Undefined for a response and for a batch. */
  readonly method: string | undefined;
  /** The ids of the requests in the frame. */
  readonly requests: readonly string[];
}

/** Reads the ids of a frame that this side wrote. */
export function frameIdsOf(frame: string): FrameIds {
  const messages = messagesOf(frame);
  const method = frame.startsWith("[") ? undefined : messages[0]?.get("method");
  return {
    method: method === undefined ? undefined : String(JSON.parse(method)),
    requests: messages.flatMap((message) => (message.has("method") ? idOf(message) : [])),
  };
}

/** The ids of the responses in a received frame. */
export function answeredIn(frame: string): readonly string[] {
  return messagesOf(frame).flatMap((message) => (message.has("method") ? [] : idOf(message)));
}

function messagesOf(frame: string): readonly MemberTexts[] {
  return frame.trimStart().startsWith("[") ? membersOfElements(frame) : [membersOf(frame)];
}

function idOf(message: MemberTexts): readonly string[] {
  const id = message.get("id");
  return id === undefined ? [] : [id];
}
