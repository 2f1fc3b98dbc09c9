import { methods } from "@parlance/mcp/protocol";
import type { Conversation, RecordedOperation, Row, WireMessage } from "@parlance/wire";

type WireSession = Conversation["sessions"][number];

/** The next action of the server, or the message that it waited for. */
export type Step =
  /** It sent a frame, wrote to stderr, or ended. */
  | { readonly is: "send" | "exit"; readonly row: Row }
  /** Its question was answered. */
  | { readonly is: "answered"; readonly row: Row; readonly question: RecordedOperation };

/** A message of the client, and what the server did because of it, in the recorded order. */
export interface ReplayStep {
  /** None of what the server did before the client had said anything. */
  readonly trigger: WireMessage | undefined;
  /** Of a request. */
  readonly operation: RecordedOperation | undefined;
  readonly at: number;
  readonly steps: Step[];
}

/** The scenes of a recording, in the order of their cues. */
export function replaySteps({ rows, sessions }: Conversation): readonly ReplayStep[] {
  const directors = new Map(sessions.map((session) => [session, new StepScheduler(session)]));
  for (const row of rows) if (row.session !== undefined) directors.get(row.session)?.see(row);
  return [...directors.values()].flatMap(({ scenes }) => scenes);
}

/** Finds out, for one session, what of the server belongs to what of the client. */
class StepScheduler {
  readonly scenes: ReplayStep[] = [];
  readonly #byRequest = new Map<WireMessage, RecordedOperation>();
  readonly #byOperation = new Map<RecordedOperation, ReplayStep>();
  /** Where each question of the server was asked. */
  readonly #askedIn = new Map<RecordedOperation, ReplayStep>();
  /** The last message of the client, which causes messages of the server that name no other cause. */
  #latest: ReplayStep;
  #inputEnded = false;

  constructor({ operations }: WireSession) {
    for (const operation of operations) this.#byRequest.set(operation.request, operation);
    this.#latest = this.#begin(undefined, undefined, 0);
  }

  see(row: Row): void {
    if (row.kind === "life") this.#seeLife(row);
    else if (row.kind === "stderr") this.#latest.steps.push({ is: "send", row });
    else if (row.frame?.from === "client") this.#seeClient(row);
    else if (row.frame !== undefined) this.#seeServer(row);
  }

  #begin(cue: WireMessage | undefined, operation: RecordedOperation | undefined, at: number): ReplayStep {
    const scene: ReplayStep = { trigger: cue, operation, at, steps: [] };
    this.scenes.push(scene);
    if (operation !== undefined) this.#byOperation.set(operation, scene);
    return scene;
  }

  /** A server that ends when its input does ends by itself. Any other end is a part of what it did. */
  #seeLife(row: Row): void {
    if (row.entry.k !== "l") return;
    const { ev, d } = row.entry;
    if (ev === "stdin-end" || ev === "signal" || (ev === "close" && d === "c2s")) this.#inputEnded = true;
    if (ev === "exit" && !this.#inputEnded) this.#latest.steps.push({ is: "exit", row });
  }

  #seeClient(row: Row): void {
    for (const message of row.messages) {
      if (message.kind === "req" || message.kind === "ntf")
        this.#latest = this.#begin(message, this.#byRequest.get(message), row.at);
      const question = message.context.pairing?.is === "answer" ? message.operation : undefined;
      const scene = question && this.#askedIn.get(question);
      if (question === undefined || scene === undefined) continue;
      scene.steps.push({ is: "answered", row, question });
      this.#latest = scene;
    }
  }

  #seeServer(row: Row): void {
    const scene = this.#sceneOf(row);
    scene.steps.push({ is: "send", row });
    for (const message of row.messages) {
      const question = this.#byRequest.get(message);
      if (question !== undefined) this.#askedIn.set(question, scene);
    }
  }

  /** Of a batch, its last message decides: by then everything that it answers has been asked. */
  #sceneOf({ messages, exchange }: Row): ReplayStep {
    const last = messages.at(-1);
    const operation = last?.concerns;
    const own = operation && this.#byOperation.get(operation);
    const isAnswer = last?.context.pairing !== undefined;
    // Notifications of a subscription have another cause.
    if (own !== undefined && (isAnswer || operation?.request.method !== methods.listen)) return own;
    const carried = exchange?.messages.map((each) => this.#byRequest.get(each)).find((each) => each !== undefined);
    return (carried && this.#byOperation.get(carried)) ?? this.#latest;
  }
}
