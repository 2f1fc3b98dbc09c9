import { watched } from "./watched.js";

/** Stands for that of the engine where a client opens its conversation. */
export const openConnection: ReturnType<typeof watched> = watched("client");
