// The calls of a client to an unknown server: it lists, calls, reads and gets everything that there is, and
// answers what it is asked. The same in each version of the official SDK.

/** The capabilities of the client. */
export const capabilities = { sampling: {}, elicitation: { form: {}, url: {} }, roots: { listChanged: true } };

/** Its responses to requests of the server. */
export const answers = {
  "sampling/createMessage": () => ({
    role: "assistant",
    content: { type: "text", text: "hi" },
    model: "none",
    stopReason: "endTurn",
  }),
  "elicitation/create": ({ params }) =>
    params.mode === "url" ? { action: "accept" } : { action: "accept", content: valuesFor(params.requestedSchema) },
  "roots/list": () => ({ roots: [{ uri: "file:///home/ada", name: "home" }] }),
};

/** Some value that a schema takes, as far as examples go. */
function valueFor({ type, enum: words, oneOf, default: usual, minimum = 1, format, minLength = 1, items }) {
  // Slow tools get the shortest time that they accept.
  if (type === "number" || type === "integer") return minimum;
  if (usual !== undefined) return usual;
  if (words !== undefined) return words[0];
  if (oneOf !== undefined) return oneOf[0].const;
  if (type === "boolean") return true;
  if (type === "array") return items?.enum?.slice(0, 1) ?? [];
  if (type === "object") return {};
  if (format === "email") return "ada@example.com";
  if (format === "date") return "2026-01-31";
  if (format === "uri") return "https://example.com/";
  return "a".repeat(minLength);
}

function valuesFor({ properties = {} }) {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, valueFor(schema)]));
}

/** Does all that a client can do with a server. What fails is told by the server, and is no failure here. */
export async function explore(client, call) {
  const { tools, resources, prompts, logging } = client.getServerCapabilities() ?? {};
  const failed = [];
  const attempt = async (name, act) => {
    try {
      return await act();
    } catch (error) {
      failed.push(`${name}: ${error.message}`);
      return undefined;
    }
  };
  if (logging !== undefined && client.setLoggingLevel !== undefined)
    await attempt("level", () => client.setLoggingLevel("debug"));
  if (resources?.subscribe === true && client.subscribeResource !== undefined) {
    const all = await attempt("resources", () => client.listResources());
    for (const { uri } of all?.resources.slice(0, 1) ?? []) await attempt(uri, () => client.subscribeResource({ uri }));
  }
  const listed = tools === undefined ? { tools: [] } : await attempt("tools", () => client.listTools());
  const callable = (listed?.tools ?? []).filter(({ execution }) => execution?.taskSupport !== "required");
  for (const { name, inputSchema } of callable)
    await attempt(name, () =>
      call({ name, arguments: valuesFor(inputSchema) }, { timeout: 8_000, onprogress: () => undefined }),
    );
  if (tools !== undefined) await attempt("unknown tool", () => call({ name: "no-such-tool", arguments: {} }));
  // Two at the same time.
  await Promise.all(
    callable
      .slice(0, 2)
      .map(({ name, inputSchema }) =>
        attempt(name, () => call({ name, arguments: valuesFor(inputSchema) }, { timeout: 8_000 })),
      ),
  );
  if (resources !== undefined) {
    const all = await attempt("resources", () => client.listResources());
    await attempt("templates", () => client.listResourceTemplates());
    for (const { uri } of all?.resources.slice(0, 3) ?? []) await attempt(uri, () => client.readResource({ uri }));
  }
  if (prompts !== undefined) {
    const all = await attempt("prompts", () => client.listPrompts());
    for (const { name, arguments: args = [] } of all?.prompts.slice(0, 3) ?? [])
      await attempt(name, () =>
        client.getPrompt({ name, arguments: Object.fromEntries(args.map((arg) => [arg.name, "a"])) }),
      );
  }
  return { called: callable.map(({ name }) => name), failed };
}
