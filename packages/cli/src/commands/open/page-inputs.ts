import { type ElicitResult, type InputHandlers, type Root, RpcError, userRejected } from "@parlance/mcp/client";
import { ExactNumber } from "@parlance/mcp/jsonrpc";
import { compile } from "@parlance/mcp/schema";
import type { PageAnswer, PageInput } from "@parlance/web/protocol";
import { rootOf, samplingResult } from "../../shared/answers/answer-option.js";
import { PausableClock } from "../../shared/answers/dialog.js";

type InputContext = Parameters<NonNullable<InputHandlers["elicitation"]>>[1];

interface WaitingInput extends PageInput {
  readonly answer: (answer: PageAnswer) => void;
}

/** The input requests of a server, for the page to answer. They are declined while no page is open. */
export class PageInputs {
  /** The clock of the conversation, which is paused while a request waits for the user. */
  readonly clock: PausableClock = new PausableClock();
  readonly #hasPage: () => boolean;
  readonly #changed: () => void;
  #waiting: readonly WaitingInput[] = [];
  #roots: readonly Root[] = [];
  #last = 0;

  constructor(hasPage: () => boolean, changed: () => void) {
    this.#hasPage = hasPage;
    this.#changed = changed;
  }

  /** The waiting requests, oldest first. */
  get waiting(): readonly PageInput[] {
    return this.#waiting.map(({ answer: _, ...input }) => input);
  }

  /** The roots: folders that the server may use. */
  get roots(): readonly string[] {
    return this.#roots.map(({ uri }) => uri);
  }

  /** Sets the roots. @throws RpcError if a folder does not exist */
  setRoots(folders: readonly string[]): void {
    this.#roots = folders.map((folder) => {
      const root = folder.startsWith("file:") ? { uri: folder } : rootOf(folder);
      if (root === undefined) throw new RpcError(422, `There is no folder ${folder}`);
      return root;
    });
    this.#changed();
  }

  /** Answers a request. @throws RpcError if the content does not fit the form */
  async answer(key: number, answer: PageAnswer): Promise<void> {
    const input = this.#waiting.find((each) => each.key === key);
    if (input === undefined) throw new RpcError(404, "The request is answered or cancelled already");
    if (input.schema === undefined || answer.action !== "accept") input.answer(answer);
    else {
      const value = inDoubles(answer.value ?? {});
      const form = compile(input.schema, { trust: "peer", formats: "assert" });
      const checked = await form.check(value);
      if (!checked.ok)
        throw new RpcError(422, checked.errors.map(({ path, message }) => `${path} ${message}`).join("; "));
      if (!isSafe(answer.value))
        throw new RpcError(422, "An integer is beyond 2^53: the client cannot send it in a form");
      input.answer({ ...answer, value });
    }
  }

  /** The handlers of input requests, which also declare the capabilities. */
  get answers(): InputHandlers {
    return {
      elicitation: async ({ message, requestedSchema }, { signal }) => {
        const { action, value } = await this.#ask({ kind: "form", message, schema: { ...requestedSchema } }, signal);
        // Validated by the form.
        return action === "accept" ? { action, content: (value ?? {}) as ElicitResult["content"] } : { action };
      },
      urlElicitation: async ({ message, url }, { signal }) => {
        const { action } = await this.#ask({ kind: "url", message, url }, signal);
        return action === "accept" ? { action, retry: Promise.resolve() } : { action };
      },
      sampling: async (params, { signal }) => {
        const message = JSON.stringify(params, undefined, 2);
        const { action, value } = await this.#ask({ kind: "sampling", message }, signal);
        if (action !== "accept") throw userRejected();
        return samplingResult(value, typeof value === "string" ? value : "");
      },
      roots: () => this.#roots,
    };
  }

  async #ask(input: Omit<PageInput, "key">, signal: InputContext["signal"]): Promise<PageAnswer> {
    if (!this.#hasPage()) return { action: "decline" };
    this.#last += 1;
    const key = this.#last;
    this.clock.pause();
    try {
      return await new Promise((answer) => {
        signal.addEventListener("abort", () => answer({ action: "cancel" }), { once: true });
        this.#waiting = [...this.#waiting, { ...input, key, answer }];
        this.#changed();
      });
    } finally {
      this.#waiting = this.#waiting.filter((each) => each.key !== key);
      if (this.#waiting.length === 0) this.clock.resume();
      this.#changed();
    }
  }
}

/** A value with a double in place of each exact number, because validators support only doubles. */
export function inDoubles(value: unknown): unknown {
  return JSON.parse(ExactNumber.stringify(value));
}

/** Whether doubles hold all integers of a form exactly. Lists in forms have only strings. */
function isSafe(content: unknown): boolean {
  const integers = Object.values(content ?? {})
    .filter((each) => each instanceof ExactNumber)
    .map(Number);
  return integers.every((each) => !Number.isInteger(each) || Number.isSafeInteger(each));
}
