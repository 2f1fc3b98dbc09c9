import type { Server } from "@parlance/mcp/server";

/** A server that has one definition for every behaviour of the matrix. What its tools have done is counted for itself. */
export declare function matrixServer(): Server;
