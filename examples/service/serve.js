import { openConnection } from "@parlance/mcp/jsonrpc";
import { stdioChannel } from "@parlance/mcp/node";
import { cancellation, framing } from "./agreement.js";
import { createExampleService } from "./service.js";

// Serves whoever started this process, until stdin ends. Stdout belongs to the messages; words for people go to stderr.
openConnection(stdioChannel({ framing }), { handle: createExampleService().call, cancellation });
