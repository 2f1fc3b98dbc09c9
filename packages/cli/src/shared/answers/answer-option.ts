import { statSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { CreateMessageResult, ElicitResult, Root } from "@parlance/mcp/client";
import { isObject } from "@parlance/mcp/protocol";
import { type Command, InvalidArgumentError } from "commander";
import { parsedJson } from "../parsed-json.js";

/** The answers of one `--answer`, by the kind of input request; undefined for a kind that it does not answer. */
interface WrittenAnswer {
  readonly form?: ElicitResult;
  /** The answer to a URL elicitation. */
  readonly url?: ElicitResult["action"];
  readonly sampling?: CreateMessageResult | "decline";
}

/** The flags of `addAnswerOptions`. */
export interface AnswerFlags {
  readonly answer?: readonly WrittenAnswer[];
  readonly roots?: readonly Root[];
}

/** The forms of `--answer`, for help pages. */
export const answerHelp = `A server may request input while it runs a call: a form or a URL to open
(elicitation), a message of a model (sampling), folders to work in (roots).
On a terminal you are prompted. In scripts, --answer gives the responses in
order; the last one is used for all that follow (without an --answer, talk and
run without --ui do not declare these capabilities):
  --answer '{"name":"Ada"}'    fills in a form; defaults may be left out
  --answer accept              accepts a form with its defaults, or a URL
  --answer decline             declines everything; cancel cancels it
  --answer url=accept          accepts URLs only; also url=decline, url=cancel
  --answer sampling='4'        the text of the model; JSON is sent as it is
  --roots folder               the folders; may be repeated
Requests without a response are declined; stderr names the missing option.`;

/** Adds the options that answer input requests of the server. */
export function addAnswerOptions(command: Command): Command {
  return command
    .option("--answer <answer>", "respond to an input request of the server, see below; may be repeated", answers)
    .option("--roots <folder>", "a folder that the server may work in; may be repeated", roots);
}

function answers(text: string, others: readonly WrittenAnswer[] = []): readonly WrittenAnswer[] {
  return [...others, parseAnswer(text)];
}

function parseAnswer(text: string): WrittenAnswer {
  // Sampling cannot be accepted without the text of the model.
  if (isAction(text)) return { form: { action: text }, url: text, ...(text !== "accept" && { sampling: "decline" }) };
  const [, to, value = ""] = /^(form|url|sampling)=(.*)$/s.exec(text) ?? [];
  if (to === "url") {
    if (isAction(value)) return { url: value };
    throw new InvalidArgumentError("Write url=accept, url=decline or url=cancel.");
  }
  if (to === "sampling") return { sampling: value === "decline" ? value : samplingResult(parsedJson(value), value) };
  const content = parsedJson(to === "form" ? value : text);
  if (!isObject(content))
    throw new InvalidArgumentError(
      'Write a JSON object with the fields of the form, accept, decline, cancel, url=… or sampling=…; e.g. {"name":"Ada"}.',
    );
  // The library checks the values against the fields of the form before it sends them.
  return { form: { action: "accept", content: content as ElicitResult["content"] } };
}

function isAction(text: string): text is ElicitResult["action"] {
  return text === "accept" || text === "decline" || text === "cancel";
}

/** The sampling result that a user has written: as an object with its content, or else as the text of the model. */
export function samplingResult(written: unknown, text: string): CreateMessageResult {
  return isObject(written) && "content" in written ? { ...textResult(""), ...written } : textResult(text);
}

/** A sampling result with a text written by the user instead of a model. */
export function textResult(text: string): CreateMessageResult {
  return { role: "assistant", content: { type: "text", text }, model: "parlance", stopReason: "endTurn" };
}

function roots(folder: string, others: readonly Root[] = []): readonly Root[] {
  const root = rootOf(folder);
  if (root !== undefined) return [...others, root];
  throw new InvalidArgumentError(`There is no folder ${folder}.`);
}

/** A folder as a root; undefined if there is none. */
export function rootOf(folder: string): Root | undefined {
  const path = resolve(folder);
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ? { uri: pathToFileURL(path).href } : undefined;
}
