import { thrownText } from "../jsonrpc/errors.js";
import type { SendableContent } from "../protocol/sendable.js";

/**
 * A tool has failed, and the model shall know why: becomes a result with `isError: true`. In a prompt, a resource or a method, which
 * have no such results, it becomes the error −32603 with its message.
 *
 * For a fault of the protocol throw an `RpcError`; anything else that a handler throws is *Internal error* to the client,
 * unless the server is made with `toolErrors: "message"`.
 */
export class ToolError extends Error {
  override readonly name = "ToolError";
  /** The content blocks that the model sees. */
  readonly content: readonly SendableContent[];

  /** @param content what the model reads: a sentence, or blocks; the first text is also the message */
  constructor(content: string | readonly SendableContent[], options?: ErrorOptions) {
    const blocks: readonly SendableContent[] =
      typeof content === "string" ? [{ type: "text", text: content }] : content;
    const text = blocks.find((block) => block.type === "text");
    super(text?.text ?? "the tool failed", options);
    this.content = blocks;
  }

  /**
   * A ToolError with the message of anything thrown, which becomes its cause; one that is a ToolError already is given back. For
   * errors that are known to be safe to show: a message may hold paths, queries, hosts or secrets.
   *
   * @example
   * const page = await fetch(url).catch((error) => {
   *   throw ToolError.from(error);
   * });
   */
  static from(thrown: unknown): ToolError {
    if (thrown instanceof ToolError) return thrown;
    const text = thrown instanceof Error ? thrown.message || thrown.name : thrownText(thrown);
    return new ToolError(text, { cause: thrown });
  }
}
