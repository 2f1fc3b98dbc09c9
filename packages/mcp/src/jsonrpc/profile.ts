/**
 * The variant of JSON-RPC 2.0 that two peers use. The base profile is the specification; a protocol on top may restrict it.
 */
export interface Profile {
  /** Arrays as params. Without them params faults are answered with −32602 instead of −32600. */
  readonly positionalParams: boolean;
  /** `null` and fractional numbers as ids. */
  readonly looseIds: boolean;
  /** Arrays of messages as one frame. */
  readonly batches: boolean;
  /** `id: null` in a failure that answers an unreadable request; otherwise the member is left out. */
  readonly nullIdInFailure: boolean;
  /** A notification with faulty params is answered as an invalid request, with `id: null`; otherwise it is dropped. */
  readonly answersFaultyNotifications: boolean;
  /** Whether this side answers requests. If not, all of them are reported and dropped. */
  readonly answersRequests: boolean;
  /** The result that is sent for a handler's `undefined`. */
  readonly emptyResult: "null" | "{}";
}

/** JSON-RPC 2.0 as specified. */
export const baseProfile: Profile = {
  positionalParams: true,
  looseIds: true,
  batches: true,
  nullIdInFailure: true,
  answersFaultyNotifications: true,
  answersRequests: true,
  emptyResult: "null",
};

/** JSON-RPC as MCP narrows it: object params, string or integer ids, no batches. */
export const mcpProfile: Profile = {
  positionalParams: false,
  looseIds: false,
  batches: false,
  nullIdInFailure: false,
  answersFaultyNotifications: false,
  answersRequests: true,
  emptyResult: "{}",
};

/** The MCP profile of the one revision with batches. */
export const mcpBatchProfile: Profile = { ...mcpProfile, batches: true };

/** The MCP profile of a client whose server may send no requests. */
export const mcpRequestingProfile: Profile = { ...mcpProfile, answersRequests: false };
