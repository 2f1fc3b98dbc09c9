import { methods } from "@parlance/mcp/protocol";
import type { Conversation, RecordedOperation, Row, WireMessage } from "@parlance/wire";

/** An action of the server, or the response that it waited for. */
export type ReplayAction =
  /** The server sent a frame, wrote to stderr, or exited. */
  | { readonly is: "send" | "exit"; readonly row: Row }
  /** A request of the server was answered. */
  | { readonly is: "answered"; readonly row: Row; readonly question: RecordedOperation };

/** A message of the client, and the actions of the server that it caused, in the recorded order. */
export interface ReplayStep {
  /** The message; undefined for the actions of the server before the first one. */
  readonly trigger: WireMessage | undefined;
  readonly at: number;
  readonly actions: ReplayAction[];
}

/** A step with a message of the client. */
export type TriggeredStep = ReplayStep & { readonly trigger: WireMessage };

/** The steps of a recording, in the order of their triggers. */
export function replaySteps({ rows, sessions }: Conversation): readonly ReplayStep[] {
  const schedulers = new Map(sessions.map((session) => [session, new StepScheduler()]));
  for (const row of rows) if (row.session !== undefined) schedulers.get(row.session)?.see(row);
  return [...schedulers.values()].flatMap(({ steps }) => steps);
}

/** The operation that a message begins; undefined unless it is a request. */
export function begunBy({ kind, operation }: WireMessage): RecordedOperation | undefined {
  return kind === "req" ? operation : undefined;
}

/** Assigns the actions of the server in one session to the messages of the client. */
class StepScheduler {
  readonly steps: ReplayStep[] = [];
  readonly #byOperation = new Map<RecordedOperation, ReplayStep>();
  /** The step in which each request of the server was sent. */
  readonly #askedIn = new Map<RecordedOperation, ReplayStep>();
  /** The step of the client's last message, which is taken as the cause of server messages that name no other. */
  #latest: ReplayStep = this.#begin(undefined, 0);
  #inputEnded = false;

  see(row: Row): void {
    if (row.kind === "life") this.#seeLife(row);
    else if (row.kind === "stderr") this.#latest.actions.push({ is: "send", row });
    else if (row.frame?.from === "client") this.#seeClient(row);
    else if (row.frame !== undefined) this.#seeServer(row);
  }

  #begin(trigger: WireMessage | undefined, at: number): ReplayStep {
    const step: ReplayStep = { trigger, at, actions: [] };
    this.steps.push(step);
    const operation = trigger && begunBy(trigger);
    if (operation !== undefined) this.#byOperation.set(operation, step);
    return step;
  }

  /** Adds the exit of the server, unless it exited because its input ended. */
  #seeLife(row: Row): void {
    if (row.entry.k !== "l") return;
    const { ev, d } = row.entry;
    if (ev === "stdin-end" || ev === "signal" || (ev === "close" && d === "c2s")) this.#inputEnded = true;
    if (ev === "exit" && !this.#inputEnded) this.#latest.actions.push({ is: "exit", row });
  }

  #seeClient(row: Row): void {
    for (const message of row.messages) {
      if (message.kind === "req" || message.kind === "ntf") this.#latest = this.#begin(message, row.at);
      const question = message.context.pairing?.is === "answer" ? message.operation : undefined;
      const step = question && this.#askedIn.get(question);
      if (question === undefined || step === undefined) continue;
      step.actions.push({ is: "answered", row, question });
      this.#latest = step;
    }
  }

  #seeServer(row: Row): void {
    const step = this.#stepOf(row);
    step.actions.push({ is: "send", row });
    for (const message of row.messages) {
      const question = begunBy(message);
      if (question !== undefined) this.#askedIn.set(question, step);
    }
  }

  /** The step of a frame. For a batch, its last message decides, because by then all its requests have been sent. */
  #stepOf({ messages, exchange }: Row): ReplayStep {
    const last = messages.at(-1);
    const operation = last?.concerns;
    const own = operation && this.#byOperation.get(operation);
    const isAnswer = last?.context.pairing !== undefined;
    // Notifications of a subscription are not caused by its request.
    if (own !== undefined && (isAnswer || operation?.request.method !== methods.listen)) return own;
    const carried = exchange?.messages.map(begunBy).find((each) => each !== undefined);
    return (carried && this.#byOperation.get(carried)) ?? this.#latest;
  }
}
