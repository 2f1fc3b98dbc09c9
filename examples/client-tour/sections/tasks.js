import { said } from "../describe.js";

/** @import { TaskState } from "@parlance/mcp" */
/** @import { Section } from "../stage.js" */

/** @param {TaskState} task */
const status = ({ status }) => status;

/** @type {Section} */
export const tasks = {
  title: "Tasks: a call that continues after its response, in revisions with tasks",
  ours: true,
  async play({ client, show }) {
    const endless = await show(() => client.tools.start("wait", {}, { ttl: 60_000 }), status);
    const taskId = endless?.taskId ?? "none";
    await show(() => client.tasks.get(taskId), status);
    await show(() => client.tasks.cancel(taskId), status);
    await show(
      () => client.tasks.list().all(),
      (all) => all.map(status).join(" "),
    );
    const short = await show(() => client.tools.start("count"), status);
    await show(() => client.tasks.result(short?.taskId ?? "none"), said);
  },
};
