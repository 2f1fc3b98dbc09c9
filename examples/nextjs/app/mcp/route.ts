import { httpHandler } from "@parlance/mcp/http";
import { server } from "../../server";

const mcp = httpHandler(server, { allowedHosts: ["app.example.com"], sessions: false });

export { mcp as DELETE, mcp as GET, mcp as OPTIONS, mcp as POST };
