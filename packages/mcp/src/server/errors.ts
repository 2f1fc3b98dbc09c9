import type { ContentBlock } from "../protocol/content.js";

/**
 * A tool has failed, and the model shall know why: becomes a result with `isError: true`.
 * For a fault of the protocol throw an `RpcError`; anything else that a handler throws is *Internal error* to the client.
 */
export class ToolError extends Error {
  override readonly name = "ToolError";
  readonly content: readonly ContentBlock[];

  /** @param content what the model reads: a sentence, or blocks; the first text is also the message */
  constructor(content: string | readonly ContentBlock[], options?: ErrorOptions) {
    const blocks: readonly ContentBlock[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
    const text = blocks.find((block) => block.type === "text");
    super(text?.text ?? "the tool failed", options);
    this.content = blocks;
  }
}
