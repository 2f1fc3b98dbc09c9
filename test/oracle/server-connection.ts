import { watched } from "./watched.js";

/** Stands for that of the engine where a server opens its conversation. */
export const openConnection: ReturnType<typeof watched> = watched("server");
