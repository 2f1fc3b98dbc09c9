import { type Call, createService, describeReport } from "@parlance/mcp/jsonrpc";
import { describe, expect, test } from "vitest";
import { overMemory, turn } from "../transports.js";

const cancellation = { method: "$/cancelRequest", idMember: "id" };

/** Ends with an error of its own as soon as it is cancelled, as `fetch` does. */
const interruptible: Call = (_method, _params, { signal }) =>
  new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(new Error("interrupted")));
  });

describe("an error that a handler throws after its cancellation", () => {
  test.each([
    ["a request", '{"jsonrpc":"2.0","id":1,"method":"wait"}'],
    ["a batch", '[{"jsonrpc":"2.0","id":1,"method":"wait"}]'],
  ])("is how it stops, and no fault: %s", async (_name, frame) => {
    const reports: string[] = [];
    const handle = createService().method("wait", (params, exchange) => interruptible("wait", params, exchange)).call;
    await using talk = overMemory({ handle, cancellation, report: (each) => void reports.push(describeReport(each)) });
    talk.peer.send(frame);
    talk.peer.send('{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}');
    expect(await talk.peer.next()).toContain('"error":{"code":-32800,');
    await turn();
    expect(reports).toEqual([]);
  });
});
