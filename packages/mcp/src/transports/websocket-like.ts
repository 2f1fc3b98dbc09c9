/** What a socket tells, of whichever kind the event is. */
export interface WebSocketEvent {
  readonly type: string;
  /** Of a message. */
  readonly data?: unknown;
  /** Of an error, where the platform lets a program see it. */
  readonly message?: string;
  /** Of the end. */
  readonly code?: number;
  readonly reason?: string;
}

/** What a channel needs of a `WebSocket`: that of the web has it, and so has that of `ws`. */
export interface WebSocketLike {
  readonly readyState: number;
  readonly bufferedAmount: number;
  readonly protocol: string;
  binaryType: string;
  addEventListener(type: "open" | "message" | "error" | "close", listener: (event: WebSocketEvent) => void): void;
  /** `taken` is called, where the platform does that, when nothing of the text is left on this side. */
  send(text: string, taken?: () => void): void;
  close(code?: number): void;
  /** Where reading can wait, so that the peer has to. */
  pause?(): void;
  resume?(): void;
  /** Where a peer that does not answer can be left. */
  terminate?(): void;
}

/** Makes a socket that opens. */
export type WebSocketConstructor = new (url: string | URL, protocols: string[]) => WebSocketLike;
