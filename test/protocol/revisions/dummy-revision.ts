import { type Edition, revise } from "../../../packages/mcp/src/protocol/revisions/revision.js";
import { extending, ref, string } from "../../../packages/mcp/src/protocol/shapes/shape.js";

// A revision after the newest one, stated as the file of a real one would be.

/** The successor of a revision: adds a method, removes a member, and renames three members. */
export function dummyAfter(previous: Edition): Edition {
  return revise(previous, "2099-01-01", {
    requests: {
      client: {
        added: { "tools/describe": { params: ref("DescribeToolRequestParams"), result: ref("DescribeToolResult") } },
      },
    },
    types: {
      DescribeToolRequestParams: extending(["RequestParams"], { name: string }),
      DescribeToolResult: extending(["Result"], { text: string }),
      Tool: { lacks: ["annotations"] },
      Resource: { renames: { size: "bytes" } },
      CreateMessageRequestParams: { renames: { systemPrompt: "system" } },
      CreateMessageResult: { renames: { stopReason: "reason" } },
    },
  });
}
