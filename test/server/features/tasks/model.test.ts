import { RpcError } from "@parlance/mcp/server";
import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../../../testing/forms.js";
import { type Frame, parse, success } from "../../../testing/frames.js";
import { turn } from "../../../testing/talks.js";
import { type TaskPeer, taskPeer, workshop } from "./tasks.js";

const ttl = 100;

type Step =
  | { readonly kind: "start"; readonly tool: "work" | "asks" | "quick" | "fails" }
  | { readonly kind: "get" | "cancel" | "result"; readonly task: number }
  | { readonly kind: "release"; readonly well: boolean }
  | { readonly kind: "answer" }
  | { readonly kind: "pass"; readonly time: number };

const which = fc.nat({ max: 5 });
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant("start" as const), tool: fc.constantFrom("work", "asks", "quick", "fails") }),
    fc.record({ kind: fc.constantFrom("get" as const, "cancel" as const, "result" as const), task: which }),
    fc.record({ kind: fc.constantFrom("result" as const), task: which }),
    fc.record({ kind: fc.constant("release" as const), well: fc.boolean() }),
    fc.record({ kind: fc.constant("answer" as const) }),
    fc.record({ kind: fc.constant("pass" as const), time: fc.integer({ min: 1, max: ttl }) }),
  ),
  { maxLength: 40 },
);

/** Where a task may go from where it is. */
const ways: Readonly<Record<string, readonly string[]>> = {
  working: ["input_required", "completed", "failed", "cancelled"],
  input_required: ["working", "completed", "failed", "cancelled"],
  completed: [],
  failed: [],
  cancelled: [],
};

interface Known {
  readonly taskId: string;
  readonly madeAt: number;
  status: string;
}

/** A model of the tasks that a client knows, with its invariants. */
class Observer {
  readonly #peer: TaskPeer;
  readonly #workshop: ReturnType<typeof workshop>;
  readonly #tasks: Known[] = [];
  readonly #questions: (string | number)[] = [];
  readonly #owed = new Map<string | number, Known>();
  readonly #answers = new Map<string | number, Frame>();

  constructor(peer: TaskPeer, shop: ReturnType<typeof workshop>) {
    this.#peer = peer;
    this.#workshop = shop;
  }

  async take(step: Step): Promise<void> {
    const { clock } = this.#peer.talk;
    if (step.kind === "start") await this.#start(step.tool);
    else if (step.kind === "release") this.#workshop.release(step.well ? "well" : new RpcError(7, "Ill"));
    else if (step.kind === "answer") this.#answer();
    else if (step.kind === "pass") clock.advance(step.time);
    else await this.#look(step.kind, this.#tasks[step.task]);
    await turn();
    await this.#ask("ping");
  }

  /** Lets everything come to its end: whoever has waited has had one answer, and nothing is left. */
  async finish(): Promise<void> {
    while (this.#workshop.waiting > 0) await this.take({ kind: "release", well: true });
    await this.take({ kind: "pass", time: ttl });
    expect([...this.#owed.keys()].filter((id) => !this.#answers.has(id))).toEqual([]);
    expect((await this.#ask("tasks/list")).result).toEqual({ tasks: [] });
  }

  async #start(name: string): Promise<void> {
    const { result } = await this.#ask("tools/call", { name, task: {} });
    if (result === undefined) return; // There are too many.
    const { taskId, status } = result.task as { taskId: string; status: string };
    expect(status).toBe("working");
    this.#tasks.push({ taskId, status, madeAt: this.#peer.talk.clock.now() });
  }

  async #look(kind: "get" | "cancel" | "result", task: Known | undefined): Promise<void> {
    if (task === undefined) return;
    const { taskId, status, madeAt } = task;
    if (kind === "result") {
      this.#owed.set(this.#peer.send("tasks/result", { taskId }), task);
      return;
    }
    const frame = await this.#ask(`tasks/${kind}`, { taskId });
    const isGone = this.#peer.talk.clock.now() - madeAt >= ttl;
    const refuses = isGone || (kind === "cancel" && ways[status]?.length === 0);
    if (refuses) expect(frame.error?.code).toBe(-32_602);
    else expect(frame.result).toMatchObject({ taskId, status: kind === "get" ? task.status : "cancelled" });
  }

  #answer(): void {
    const id = this.#questions.shift();
    if (id !== undefined) this.#peer.talk.peer.send(success(id, { action: "accept", content: { name: "Ada" } }));
  }

  /** Reads up to the answer; what comes before it is looked at too. */
  async #ask(method: string, params?: object): Promise<Frame> {
    const asked = this.#peer.send(method, params);
    for (;;) {
      const frame = parse(await this.#peer.talk.peer.next());
      if (frame.method !== undefined) this.#told(frame);
      else if (frame.id === asked) return frame;
      else this.#answered(frame);
    }
  }

  #told({ id, method, params }: Frame): void {
    if (method === "elicitation/create") this.#questions.push(id ?? "");
    if (method === "notifications/cancelled")
      this.#questions.splice(this.#questions.indexOf(params?.requestId as number), 1);
    if (method !== "notifications/tasks/status") return;
    const task = this.#tasks.find(({ taskId }) => taskId === params?.taskId);
    if (task === undefined) throw new Error("a status of a task that nobody knows");
    expect(ways[task.status]).toContain(params?.status);
    task.status = String(params?.status);
  }

  #answered(frame: Frame): void {
    const { id = "", result, error } = frame;
    const task = this.#owed.get(id);
    expect(this.#answers.has(id), "a second answer").toBe(false);
    this.#answers.set(id, frame);
    if (task === undefined) throw new Error(`an answer to nothing: ${JSON.stringify(frame)}`);
    const isGone = this.#peer.talk.clock.now() - task.madeAt >= ttl;
    if (isGone || task.status === "cancelled") expect(error?.code).toBe(-32_602);
    else if (task.status === "completed") expect(result).not.toHaveProperty("isError");
    else {
      expect(task.status).toBe("failed");
      expect(error?.code ?? result?.isError).toBe(error === undefined ? true : 7);
    }
  }
}

test("in whatever order tasks are made, asked for, cancelled and ended, a final status is final and each result has one outcome", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (taken) => {
      const shop = workshop({ tasks: { ttl, running: 3, kept: 5 } });
      await using peer = await taskPeer(shop.server);
      const observer = new Observer(peer, shop);
      for (const step of taken) await observer.take(step);
      await observer.finish();
    }),
    { numRuns: runs(300) },
  );
});
