/** The members of WebSocket events that the channel reads. */
export interface WebSocketEvent {
  readonly type: string;
  /** On message events. */
  readonly data?: unknown;
  /** On error events, if the platform exposes it. */
  readonly message?: string;
  /** On close events. */
  readonly code?: number;
  readonly reason?: string;
}

/** The part of the `WebSocket` interface that a channel needs; both the web's and that of `ws` have it. */
export interface WebSocketLike {
  readonly readyState: number;
  readonly bufferedAmount: number;
  readonly protocol: string;
  binaryType: string;
  addEventListener(type: "open" | "message" | "error" | "close", listener: (event: WebSocketEvent) => void): void;
  /** `taken` is called, if the platform supports it, when the text has left this side's buffer. */
  send(text: string, taken?: () => void): void;
  close(code?: number): void;
  /** Present if the socket can pause reading, so that the peer is slowed down. */
  pause?(): void;
  resume?(): void;
  /** Present if the socket can be closed without the peer's response. */
  terminate?(): void;
}

/** A constructor that opens a socket. */
export type WebSocketConstructor = new (url: string | URL, protocols: string[]) => WebSocketLike;
