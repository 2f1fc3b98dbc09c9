import { nodeHandler } from "@parlance/mcp/node";
import express from "express";
import { createSample } from "./server.js";

const mcp = nodeHandler(createSample(), { allowedHosts: ["contacts.example.com"] });

const app = express();
// In front of body parsers, which have bounds and errors of their own.
app.all("/mcp", mcp);
// Behind one, it takes what was parsed; and the path is for the application to choose.
app.use("/parsed", express.json({ limit: "4mb" }), express.Router().all("/contacts", mcp));

const listener = app.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", (error) => {
  if (error) throw error; // The port is in use, for instance.
  const address = listener.address();
  if (typeof address === "object") console.log(`http://127.0.0.1:${address?.port}/mcp`);
});

process.once("SIGTERM", async () => {
  await mcp.drain();
  listener.close();
});
