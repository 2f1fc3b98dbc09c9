import { createServer, type Server } from "@parlance/mcp/server";

const icons = [{ src: "https://example.com/icon.png", sizes: ["48x48"], theme: "dark" }] as const;
const annotations = { audience: ["user"], priority: 0.5, lastModified: "2025-01-12T15:00:58Z" } as const;
const words = { title: "Title", description: "Description", icons, _meta: { "example.com/a": 1 } };

/** A server whose definitions say everything that the newest revision has a word for. */
export function everything(): Server {
  const server = createServer({ name: "everything", version: "1" });
  const more = { ...words, annotations, mimeType: "text/plain" };
  server.resource("a:text", { ...more, name: "text", size: 4 }, (uri) => [
    { text: "text", _meta: { b: 2 } },
    { uri: `${uri}#bytes`, mimeType: "image/png", blob: new Uint8Array([1, 2]) },
  ]);
  const complete = { x: ["one", "two"] };
  server.resourceTemplate("b:{x}", { ...more, name: "family", complete }, ({ x }) => x);
  const asked = { topic: { title: "Topic", description: "What about", required: true } } as const;
  server.prompt("ask", { ...words, arguments: asked, complete: { topic: ["tea"] } }, ({ topic }) => [
    { role: "user", content: { type: "text", text: topic, annotations, _meta: { c: 3 } } },
    { role: "assistant", content: { type: "audio", data: "UklGRg==", mimeType: "audio/wav", annotations } },
    { role: "user", content: { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" } },
    {
      role: "user",
      content: { type: "resource_link", uri: "a:text", name: "text", title: "Text", icons, annotations },
    },
    {
      role: "user",
      content: { type: "resource", resource: { uri: "a:text", text: "t", _meta: { d: 4 } }, annotations },
    },
  ]);
  server.tool("t", {}, () => "");
  return server;
}
