import { handshakeVersions, latest } from "@parlance/mcp";
import { revisionOf } from "@parlance/mcp/protocol";
import type { RawPeer } from "@parlance/mcp/testing";
import { describe, expect, test } from "vitest";
import { claim, type Frame, initialized, notification, parse, request, stateless, success } from "../testing/frames.js";
import { rawContacts } from "./contacts-client.js";

const capabilities = { elicitation: { form: {} } };
const capable = { ...claim, "io.modelcontextprotocol/clientCapabilities": capabilities };
const withForms = handshakeVersions.filter((version) => revisionOf(version)?.facts.elicitation !== "none");

const yes = { action: "accept", content: { delete: true } };
const no = { action: "accept", content: { delete: false } };
const word = { action: "accept", content: { word: " Delete " } };

/** How a person was asked, and what the tool says in the end. */
interface Outcome {
  readonly asked: readonly string[];
  readonly text: string;
}

/** The responses of a person, and their actions before. */
type Answer = object | (() => Promise<object>);

/** A client with a person in front of it, frame by frame. */
abstract class Person implements AsyncDisposable {
  readonly peer: RawPeer = rawContacts();
  protected lastId = 0;

  /** Says who it is, where that comes first. */
  open(): Promise<void> {
    return Promise.resolve();
  }

  /** Calls a tool, and answers its questions in turn. */
  abstract call(name: string, args?: object, answers?: readonly Answer[]): Promise<Outcome>;

  async total(): Promise<unknown> {
    return JSON.parse((await this.call("search_contacts")).text).total;
  }

  /** The next frame that is no news of a change. */
  protected async next(): Promise<Frame> {
    const frame = parse(await this.peer.next());
    return frame.method?.startsWith("notifications/") === true ? this.next() : frame;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.peer[Symbol.asyncDispose]();
  }
}

/** Is asked with requests. */
class Conversing extends Person {
  readonly #version: string;

  constructor(version: string) {
    super();
    this.#version = version;
  }

  override async open(): Promise<void> {
    const clientInfo = { name: "raw", version: "1" };
    this.peer.send(request(0, "initialize", { protocolVersion: this.#version, capabilities, clientInfo }));
    await this.next();
    this.peer.send(initialized);
  }

  async call(name: string, args: object = {}, answers: readonly Answer[] = []): Promise<Outcome> {
    this.lastId += 1;
    this.peer.send(request(this.lastId, "tools/call", { name, arguments: args }));
    const asked: string[] = [];
    for (let frame = await this.next(); ; frame = await this.next()) {
      if (frame.method !== "elicitation/create") return { asked, text: textIn(frame) };
      this.peer.send(success(frame.id ?? "", await given(answers[asked.length])));
      asked.push(String(frame.params?.message));
    }
  }
}

/** Is asked by results, and calls again with the answers. */
class Calling extends Person {
  async call(name: string, args: object = {}, answers: readonly Answer[] = []): Promise<Outcome> {
    const asked: string[] = [];
    for (let round = {}; ; ) {
      this.lastId += 1;
      this.peer.send(stateless(this.lastId, "tools/call", { name, arguments: args, ...round }, capable));
      const frame = await this.next();
      if (frame.result?.resultType !== "input_required") return { asked, text: textIn(frame) };
      const { requestState } = frame.result;
      const questions = Object.entries(frame.result.inputRequests as Record<string, Frame>); // What the result type says.
      const answer = await given(answers[asked.length]);
      round = {
        requestState,
        inputResponses: Object.fromEntries(questions.map(([key]) => [key, answer])),
      };
      asked.push(...questions.map(([, { params }]) => String(params?.message)));
    }
  }
}

async function given(answer: Answer | undefined): Promise<object | undefined> {
  return typeof answer === "function" ? answer() : answer;
}

function textIn({ result, error }: Frame): string {
  const [block] = (result?.content ?? []) as readonly { readonly text: string }[]; // What a tool's result is.
  return block?.text ?? JSON.stringify(error);
}

const eras: readonly (readonly [string, () => Person])[] = [
  ...withForms.map((version) => [version, (): Person => new Conversing(version)] as const),
  [latest.version, () => new Calling()],
];

describe.each(eras)("a person who can be asked, in %s", (_version, create) => {
  const disagreed = "Nothing is deleted: the person did not agree";

  test("agrees: the contact is gone, once, and cannot be deleted again", async () => {
    await using person = create();
    await person.open();
    expect(await person.call("delete_contact", { id: 1 }, [yes])).toEqual({
      asked: ["Delete Ada Lovelace (contact 1)?"],
      text: '{"deleted":1}',
    });
    expect(await person.total()).toBe(3);
    const text = "There is no contact 1: search_contacts shows the ids";
    expect(await person.call("delete_contact", { id: 1 }, [yes])).toEqual({ asked: [], text });
  });

  test.each([
    ["says no", no],
    ["leaves the answer out", { action: "accept", content: {} }],
    ["declines", { action: "decline" }],
    ["closes the form", { action: "cancel" }],
  ])("%s: nothing is deleted, whatever the model has confirmed", async (_name, answer) => {
    await using person = create();
    await person.open();
    for (const [tool, args] of [
      ["delete_contact", { id: 1, confirm: true }],
      ["delete_all_contacts", { confirm: true }],
    ] as const) {
      const { asked, text } = await person.call(tool, args, [answer]);
      expect({ asked: asked.length, text }).toEqual({ asked: 1, text: disagreed });
    }
    expect(await person.total()).toBe(4);
  });

  test("is asked twice before all contacts are deleted", async () => {
    await using person = create();
    await person.open();
    const asked = ["Delete all 4 contacts?", "To delete all 4 contacts, write the word delete"];
    const wrong = { action: "accept", content: { word: "yes" } };
    for (const second of [wrong, { action: "decline" }]) {
      expect(await person.call("delete_all_contacts", {}, [yes, second])).toEqual({ asked, text: disagreed });
    }
    expect(await person.total()).toBe(4);
    expect(await person.call("delete_all_contacts", {}, [yes, word])).toEqual({ asked, text: '{"deleted":4}' });
    expect(await person.total()).toBe(0);
  });
});

test.each(eras)("what has changed while a person was asked is not deleted, in %s", async (_version, create) => {
  await using person = create();
  await person.open();
  const after = (tool: string, args: object) => async (): Promise<object> => {
    await person.call(tool, args);
    return yes;
  };
  const text = "Nothing is deleted: the contacts have changed while the person was asked. Call again";
  const rename = after("update_contact", { id: 1, name: "Ada King" });
  expect(await person.call("delete_contact", { id: 1 }, [rename])).toMatchObject({ text });
  const add = after("add_contact", { name: "New" });
  const asked = ["Delete all 4 contacts?", "To delete all 4 contacts, write the word delete"];
  expect(await person.call("delete_all_contacts", {}, [add, word])).toEqual({ asked, text });
  expect(await person.total()).toBe(5);
});

test.each(handshakeVersions.filter((version) => !withForms.includes(version)))(
  "who declares questions in %s, which has none, confirms instead",
  async (version) => {
    await using person = new Conversing(version);
    await person.open();
    expect((await person.call("delete_contact", { id: 1 })).text).toMatch(
      /^Nothing is deleted: this client cannot ask/,
    );
    expect((await person.call("delete_contact", { id: 1, confirm: true })).text).toBe('{"deleted":1}');
  },
);

describe("subscribers are notified of changes", () => {
  const update = { name: "update_contact", arguments: { id: 2, notes: "Difference Engine" } };
  const rename = { name: "update_contact", arguments: { id: 2, name: "Charles" } };

  test.each(handshakeVersions)("in a conversation in %s", async (version) => {
    await using person = new Conversing(version);
    const { peer } = person;
    await person.open();
    for (const [id, uri] of ["contacts:/2", "contacts:/all"].entries()) {
      peer.send(request(id + 1, "resources/subscribe", { uri }));
      expect(parse(await peer.next())).toMatchObject({ id: id + 1, result: {} });
    }
    peer.send(request(3, "tools/call", rename));
    expect(await peer.next()).toBe(notification("notifications/resources/updated", { uri: "contacts:/2" }));
    expect(await peer.next()).toBe(notification("notifications/resources/updated", { uri: "contacts:/all" }));
    expect(parse(await peer.next())).toMatchObject({ method: "notifications/resources/list_changed" });
    expect(parse(await peer.next())).toMatchObject({ id: 3 });
  });

  test("on a stream of the stateless era", async () => {
    await using peer = rawContacts();
    const notifications = { resourcesListChanged: true, resourceSubscriptions: ["contacts:/2"] };
    peer.send(stateless("news", "subscriptions/listen", { notifications }));
    expect(parse(await peer.next())).toMatchObject({ method: "notifications/subscriptions/acknowledged" });
    peer.send(stateless(1, "tools/call", update));
    expect(parse(await peer.next())).toMatchObject({
      method: "notifications/resources/updated",
      params: { uri: "contacts:/2" },
    });
    expect(parse(await peer.next())).toMatchObject({ id: 1 });
    peer.send(stateless(2, "tools/call", { name: "add_contact", arguments: { name: "New" } }));
    expect(parse(await peer.next())).toMatchObject({ method: "notifications/resources/list_changed" });
    expect(parse(await peer.next())).toMatchObject({ id: 2 });
  });
});
