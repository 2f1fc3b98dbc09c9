import { isObject, type JsonObject } from "../../../base/json.js";
import type { Exchange } from "../../../jsonrpc/call.js";
import { codes, faultyParams, invalidParams, methodNotFound, RpcError, wrongKind } from "../../../jsonrpc/errors.js";
import { type Params, RawJson } from "../../../jsonrpc/message.js";
import type { ServerCapabilities } from "../../../protocol/capabilities.js";
import { metaKeys, readMeta } from "../../../protocol/meta.js";
import { methods } from "../../../protocol/methods.js";
import type { TaskState } from "../../../protocol/types/tasks.js";
import type { Operation, OperationCall, ServedSession } from "../../servable.js";
import { askByRequest, errorOfRevision, OperationOfRevision } from "../../session/operation.js";
import type { Feature, FeatureSettings, MethodCall } from "../feature.js";
import { pageOf } from "../paginate.js";
import type { Tools } from "../tools.js";
import { type Task, type TaskLimits, TaskStore, unknownTask } from "./task-store.js";

const offered: ServerCapabilities = { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } };

/**
 * Calls of tools that go on after they were answered, where tasks belong to the core protocol.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
 */
export class Tasks implements Feature {
  readonly #tools: Tools;
  readonly #limits: TaskLimits;
  readonly #pageSize: number;
  readonly #stores = new WeakMap<ServedSession, TaskStore>();

  readonly methods: ReadonlyMap<string, MethodCall> = new Map<string, MethodCall>([
    this.#method(methods.getTask, (store, params, operation) => findTask(store, params, operation).state),
    this.#method(methods.taskResult, awaitResult),
    this.#method(methods.listTasks, (store, params, operation) => this.#list(store, params, operation)),
    this.#method(methods.cancelTask, cancelTask),
  ]);

  constructor(tools: Tools, limits: TaskLimits, { lists }: FeatureSettings) {
    this.#tools = tools;
    this.#limits = limits;
    this.#pageSize = lists.pageSize;
  }

  get capabilities(): ServerCapabilities | undefined {
    return this.#tools.offersTasks ? offered : undefined;
  }

  /** Whether an operation is a tool call that may run as a task: the revision has tasks, and a session keeps them. */
  handles(method: string, { session, revision }: Operation): boolean {
    return method === methods.callTool && session !== undefined && revision.facts.tasks === "core";
  }

  /** Runs a call of a tool, as a task if the client asks for that. @throws RpcError where the tool does not run so */
  callTool({ task, ...call }: JsonObject, operation: Operation, run: OperationCall): unknown {
    const support = this.#tools.taskSupport(call.name, operation);
    if (support !== undefined && support === (task === undefined ? "required" : "forbidden")) throw unfit(support);
    const { session } = operation;
    // A tool that does not exist is refused as it is without a task.
    if (task === undefined || support === undefined || session === undefined)
      return run(methods.callTool, call, operation);
    const request = { ttl: readTtl(task), principal: operation.principal, call };
    const started = this.#storeOf(session).start(request, (made) => runAs(made, call, run, operation, session));
    return { task: started.state };
  }

  /** Methods that are there in a conversation alone: nothing else could keep tasks. */
  #method(name: string, run: TaskMethod): [string, MethodCall] {
    const call: MethodCall = (params, operation) => {
      if (operation.session === undefined) throw methodNotFound(name);
      return run(this.#storeOf(operation.session), params, operation);
    };
    return [name, call];
  }

  #list(store: TaskStore, { cursor }: JsonObject, { principal }: Operation): JsonObject {
    const states = store.of(principal).map(({ state }) => ({ ...state }));
    return pageOf(states, cursor, { member: "tasks", key: "taskId", pageSize: this.#pageSize, cache: {} }).result;
  }

  #storeOf(session: ServedSession): TaskStore {
    const store = this.#stores.get(session) ?? new TaskStore(session, this.#limits);
    this.#stores.set(session, store);
    return store;
  }
}

/** Runs a method on the tasks of the conversation that it came in. */
type TaskMethod = (store: TaskStore, params: JsonObject, operation: Operation) => unknown;

function findTask(store: TaskStore, { taskId }: JsonObject, { principal }: Operation): Task {
  if (typeof taskId === "string") return store.find(taskId, principal);
  throw faultyParams(wrongKind("/taskId", "a string", taskId));
}

async function awaitResult(store: TaskStore, params: JsonObject, operation: Operation): Promise<RawJson> {
  const end = await findTask(store, params, operation).wait(operation);
  if (end === undefined) throw unknownTask();
  if ("result" in end) return end.result;
  if ("error" in end) throw new RpcError(end.error.code, end.error.message, end.error.data);
  throw invalidParams("No result", [{ path: "/taskId", message: "is a task that was cancelled: it has no result" }]);
}

function cancelTask(store: TaskStore, params: JsonObject, operation: Operation): TaskState {
  const task = findTask(store, params, operation);
  if (task.end({ status: "cancelled", message: "The client cancelled the task" })) return task.state;
  const message = `is a task that has ended: its status is ${task.state.status}`;
  throw invalidParams("Cannot cancel the task", [{ path: "/taskId", message }]);
}

/** Runs the call of a tool as a task; its result has the shape of the revision, and names the task. */
async function runAs(
  task: Task,
  params: JsonObject,
  run: OperationCall,
  operation: Operation,
  session: ServedSession,
): Promise<unknown> {
  const { revision } = operation;
  const inTask = new OperationOfRevision(exchangeOf(task, operation, session), operation, methods.callTool, params);
  void task.ended.then(() => inTask.callbacks?.end()); // Not before: the task would be told of as working again.
  try {
    const result = await askByRequest(run, inTask, await run(methods.callTool, params, inTask));
    const whole: unknown = result instanceof RawJson ? result.toJSON() : result;
    return revision.down("result", methods.callTool, related(isObject(whole) ? whole : {}, task));
  } catch (error) {
    throw errorOfRevision(error, revision);
  }
}

/** The exchange of a call that runs as a task: its notifications name the task, and it may send them until its end. */
function exchangeOf(task: Task, { principal, callback, report }: Operation, session: ServedSession): Exchange {
  const ask: Exchange["callback"] = (method, params, options) =>
    task.ask((wayBack) => wayBack(method, related(params, task), options));
  return {
    signal: task.signal,
    principal,
    callback: callback === undefined ? undefined : ask,
    notify: (method, params) => {
      if (!task.isOver) session.notify(method, related(params, task));
    },
    drained: () => session.drained(),
    report,
  };
}

function related(params: Params | undefined, { id }: Task): JsonObject {
  const named = isObject(params) ? params : {}; // Nothing in MCP has params by position.
  return { ...named, _meta: { ...readMeta(named), [metaKeys.relatedTask]: { taskId: id } } };
}

function readTtl(task: unknown): number | undefined {
  if (!isObject(task)) throw faultyParams(wrongKind("/task", "an object", task));
  const { ttl } = task;
  if (ttl === undefined || (Number.isSafeInteger(ttl) && (ttl as number) >= 0)) return ttl as number | undefined;
  throw faultyParams({ path: "/task/ttl", message: "must be a whole number of milliseconds" });
}

/** https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks#tool-level-negotiation */
function unfit(support: "required" | "forbidden"): RpcError {
  const reason = support === "required" ? "this tool runs as a task only" : "this tool does not run as a task";
  return new RpcError(codes.methodNotFound, "Method not found", { method: methods.callTool, reason });
}
