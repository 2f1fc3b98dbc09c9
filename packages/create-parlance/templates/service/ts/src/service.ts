import { createService, RpcError } from "@parlance/mcp/jsonrpc";
import * as z from "zod";

// This module exports the service and does not serve it, so that tests can import it.

/** Error codes of your own are outside of -32768 to -32000, which JSON-RPC reserves. */
export const unknownTask = 1001;

const taskSchema = z.object({ id: z.int(), title: z.string(), done: z.boolean() });
type Task = z.infer<typeof taskSchema>;

/** Tasks in memory: they last as long as the process. Replace this map by your own data. */
const tasks = new Map<number, Task>();
let lastId = 0;

// Callers give params by name, or by position in the order of the schema. Params that do not match get the error -32602.
export const service = createService()
  .method(
    "tasks.add",
    ({ title }) => {
      lastId += 1;
      const task = { id: lastId, title, done: false };
      tasks.set(task.id, task);
      return task;
    },
    { params: z.object({ title: z.string().min(1) }), result: taskSchema },
  )
  .method("tasks.list", () => [...tasks.values()], { result: z.array(taskSchema) })
  .method(
    "tasks.finish",
    ({ id }) => {
      const task = tasks.get(id);
      if (task === undefined) throw new RpcError(unknownTask, "Unknown task", { id });
      const finished = { ...task, done: true };
      tasks.set(id, finished);
      return finished;
    },
    { params: z.object({ id: z.int() }), result: taskSchema },
  );
