import {
  type CreateMessageParams,
  type CreateMessageResult,
  type ElicitFormParams,
  type ElicitResult,
  type ElicitUrlParams,
  type InputHandlers,
  type Root,
  userRejected,
} from "@parlance/mcp/client";
import type { JsonObject } from "@parlance/mcp/protocol";
import type { Invocation } from "../invocation.js";
import { visibleLines } from "../output/columns.js";
import { peerText } from "../output/content-blocks.js";
import { jsonLine } from "../output/json-lines.js";
import { shellWord } from "../output/shell-word.js";
import type { Output } from "../output/terminal.js";
import { type AnswerFlags, rootOf, textResult } from "./answer-option.js";
import { DialogEnded, Dialogs, PausableClock, type Talk } from "./dialog.js";
import { choose, exampleOf, fillIn } from "./form.js";

type InputContext = Parameters<NonNullable<InputHandlers["elicitation"]>>[1];

type UrlElicitationResult = Awaited<ReturnType<NonNullable<InputHandlers["urlElicitation"]>>>;

/** Answers the input requests of a server: from the command line, by asking the user, or by declining. */
export class Answerer {
  /** The clock of the conversation. */
  readonly clock: PausableClock = new PausableClock();
  readonly #err: Output;
  readonly #title: string;
  /** The dialogs; undefined without a terminal. */
  readonly #dialogs: Dialogs | undefined;
  readonly #forms: Queue<ElicitResult>;
  readonly #pages: Queue<ElicitResult["action"]>;
  readonly #messages: Queue<CreateMessageResult | "decline">;
  readonly #roots: readonly Root[] | undefined;
  readonly #untilShown: () => Promise<void>;

  /**
   * @param title the server as the command line names it
   * @param untilShown resolves when the frame with the question is shown. Default: at once
   */
  constructor(
    { answer = [], roots }: AnswerFlags,
    title: string,
    { err, out }: Invocation,
    untilShown: () => Promise<void> = () => Promise.resolve(),
  ) {
    this.#untilShown = untilShown;
    this.#err = err;
    this.#title = title;
    this.#roots = roots;
    const terminal = [err, out].find(({ isTerminal }) => isTerminal);
    if (process.stdin.isTTY && terminal !== undefined) this.#dialogs = new Dialogs(terminal, this.clock);
    this.#forms = new Queue(answer.map(({ form }) => form));
    this.#pages = new Queue(answer.map(({ url }) => url));
    this.#messages = new Queue(answer.map(({ sampling }) => sampling));
  }

  /** The handlers of input requests, which also declare the capabilities. */
  get answers(): InputHandlers {
    const asked = ({ signal }: InputContext): Promise<readonly Root[]> =>
      this.#untilShown().then(() => this.#listRoots(signal));
    const roots = this.#roots ?? (this.#dialogs && asked);
    return {
      elicitation: (params, { signal }) => this.#untilShown().then(() => this.#elicit(params, signal)),
      urlElicitation: (params, { signal }) => this.#untilShown().then(() => this.#visit(params, signal)),
      sampling: (params, { signal }) => this.#untilShown().then(() => this.#sample(params, signal)),
      ...(roots !== undefined && { roots }),
    };
  }

  async #elicit(params: ElicitFormParams, signal: AbortSignal): Promise<ElicitResult> {
    const written = this.#forms.next();
    if (written !== undefined) {
      const { action, content } = written;
      this.#say(params.message, content === undefined ? action : `${action} ${jsonLine(content)}`);
      const example = action === "accept" ? exampleOf(params) : {};
      const isComplete = Object.keys(example).every((name) => Object.hasOwn(content ?? {}, name));
      if (!isComplete) this.#suggest(`${answerOption(example)} fills in the form`);
      return written;
    }
    const asked = await this.#ask(
      `${Object.keys(params.requestedSchema.properties).length === 0 ? "agree" : "fill in a form"}: ${params.message}`,
      signal,
      (talk) => fillIn(params, talk),
      { action: "cancel" },
    );
    if (asked !== undefined) return asked;
    this.#decline(params.message, answerOption(exampleOf(params)));
    return { action: "decline" };
  }

  async #visit(params: ElicitUrlParams, signal: AbortSignal): Promise<UrlElicitationResult> {
    const { message, url } = params;
    const written = this.#pages.next();
    if (written !== undefined) {
      this.#say(`${message} ${url}`, written);
      return { action: written };
    }
    const key = await this.#ask(`open a URL: ${message}`, signal, (talk) => offerPage(url, talk), "c");
    if (key === "y") return { action: "accept", retry: Promise.resolve() };
    if (key !== undefined) return { action: key === "d" ? "decline" : "cancel" };
    this.#decline(`${message} ${url}`, "--answer url=accept");
    return { action: "decline" };
  }

  async #sample(params: CreateMessageParams, signal: AbortSignal): Promise<CreateMessageResult> {
    const question = lastText(params);
    const written = this.#messages.next();
    if (written === "decline") {
      this.#say(question, "decline");
      throw userRejected();
    }
    if (written !== undefined) {
      this.#say(question, jsonLine(written.content));
      return written;
    }
    const text = await this.#ask("answer instead of a model (sampling)", signal, (talk) => beModel(params, talk), "");
    if (text === "") throw userRejected();
    if (text !== undefined) return textResult(text);
    this.#decline(question, "--answer sampling='text'");
    throw userRejected();
  }

  async #listRoots(signal: AbortSignal): Promise<readonly Root[]> {
    return (await this.#ask("name the folders that it may work in (roots)", signal, askRoots, [])) ?? [];
  }

  /** Asks at the terminal. Undefined without a terminal. @param ended the answer if the input ends */
  async #ask<Answer>(
    what: string,
    signal: AbortSignal,
    hold: (talk: Talk) => Promise<Answer>,
    ended: Answer,
  ): Promise<Answer | undefined> {
    const title = `${this.#title} asks you to ${what}`;
    const talk = async (talk: Talk): Promise<Answer> => {
      talk.output.print(...visibleLines(title).map(talk.output.style.bold));
      return hold(talk);
    };
    try {
      return await this.#dialogs?.hold(talk, signal);
    } catch (error) {
      if (error instanceof DialogEnded) return ended;
      throw error;
    }
  }

  #say(question: string, answer: string): void {
    const { print, style } = this.#err;
    print(...visibleLines(`the server asks: ${question}`).map(style.dim), style.dim(`  answered: ${answer}`));
  }

  #decline(question: string, remedy: string): void {
    const { print, style } = this.#err;
    print(...visibleLines(`the server asks: ${question}`).map(style.yellow), "  declined: stdin is not a terminal");
    this.#suggest(`${remedy} answers it`);
  }

  #suggest(remedy: string): void {
    const { print, style } = this.#err;
    print(...visibleLines(remedy).map((line) => `  ${style.dim("→")} ${line}`));
  }
}

/** The option with an answer, to be copied into a shell. The names in it are those of the server, and may contain quotes. */
function answerOption(answer: JsonObject): string {
  if (Object.keys(answer).length === 0) return "--answer accept";
  return `--answer ${shellWord(jsonLine(answer))}`;
}

/** The answerer of a command that declares capabilities only if the command line has answers. */
export function answererIfGiven(
  flags: AnswerFlags,
  title: string,
  invocation: Invocation,
  untilShown?: () => Promise<void>,
): Answerer | undefined {
  if (flags.answer === undefined && flags.roots === undefined) return undefined;
  return new Answerer(flags, title, invocation, untilShown);
}

/** Answers in order; the last one is used for all later requests. */
class Queue<Answer> {
  readonly #answers: Answer[];

  constructor(answers: readonly (Answer | undefined)[]) {
    this.#answers = answers.filter((answer) => answer !== undefined);
  }

  next(): Answer | undefined {
    return this.#answers.length > 1 ? this.#answers.shift() : this.#answers[0];
  }
}

/** Prints the whole URL first and opens nothing: the user decides whether to open it. */
async function offerPage(url: string, talk: Talk): Promise<string> {
  const { print, style } = talk.output;
  print(...visibleLines(`  ${url}`), style.dim(`  on the host ${new URL(url).host}`));
  return choose("Open it in your browser, and press Enter when you are done; [d]ecline, [c]ancel: ", "ydc", talk);
}

async function beModel({ systemPrompt, messages, maxTokens }: CreateMessageParams, talk: Talk): Promise<string> {
  const { print, style } = talk.output;
  if (systemPrompt !== undefined) print(...visibleLines(`system: ${peerText(systemPrompt)}`));
  for (const { role, content } of messages) print(...visibleLines(`${role}: ${contentText(content)}`));
  print(style.dim(`  at most ${maxTokens} tokens; an empty line ends the answer, and an empty answer declines`));
  const lines: string[] = [];
  for (let line = await talk.ask("> "); line !== ""; line = await talk.ask("> ")) lines.push(line);
  return lines.join("\n");
}

async function askRoots(talk: Talk): Promise<readonly Root[]> {
  for (;;) {
    const text = await talk.ask("Folders, separated by commas (none: press Enter): ");
    const folders = text.split(",").flatMap((each) => (each.trim() === "" ? [] : [each.trim()]));
    const found = folders.map(rootOf);
    const roots = found.filter((root) => root !== undefined);
    if (roots.length === folders.length) return roots;
    talk.output.print(talk.output.style.yellow(`there is no folder ${folders[found.indexOf(undefined)]}`));
  }
}

/** The text of the last message of a sampling request. */
function lastText({ messages }: CreateMessageParams): string {
  const last = messages.at(-1);
  return last === undefined ? "sampling" : contentText(last.content);
}

function contentText(content: CreateMessageParams["messages"][number]["content"]): string {
  return [content]
    .flat()
    .map((block) => (block.type === "text" ? peerText(block.text) : `[${block.type}]`))
    .join("\n");
}
