// The calls of a client on the official SDK to server-everything: the same in each version of the SDK.

/** The capabilities of the client. */
export const capabilities = { sampling: {}, elicitation: { form: {}, url: {} }, roots: { listChanged: true } };

/** Its responses to requests of the server. */
export const answers = {
  sampling: () => ({ role: "assistant", content: { type: "text", text: "hi" }, model: "none", stopReason: "endTurn" }),
  elicitation: ({ params }) =>
    params.mode === "url" ? { action: "accept" } : { action: "accept", content: { name: "Ada", check: true } },
  roots: () => ({ roots: [{ uri: "file:///home/ada", name: "home" }] }),
};

const calls = {
  echo: { message: "hi" },
  "get-annotated-message": { messageType: "error", includeImage: true },
  "get-resource-links": { count: 2 },
  "get-resource-reference": { resourceType: "Blob", resourceId: 1 },
  "get-structured-content": { location: "Chicago" },
  "get-sum": { a: 2, b: 3 },
  "get-tiny-image": {},
  "gzip-file-as-resource": { data: "data:text/plain,hello" },
  "toggle-simulated-logging": {},
  "toggle-subscriber-updates": {},
  "trigger-long-running-operation": { duration: 0.2, steps: 2 },
  "get-roots-list": {},
  "trigger-elicitation-request": {},
  "trigger-url-elicitation": { url: "https://example.com/", elicitationId: "1" },
  "trigger-sampling-request": { prompt: "hello", maxTokens: 10 },
};

/** Lists everything, calls everything that can be called, reads, completes, subscribes, and errs. Gives what was called. */
export async function everything(client, call) {
  const { tools } = await client.listTools();
  const called = [];
  for (const [name, args] of Object.entries(calls)) {
    if (!tools.some((tool) => tool.name === name)) continue;
    await call({ name, arguments: args }, { onprogress: () => undefined });
    called.push(name);
  }
  await call({ name: "get-sum", arguments: { a: "two" } }).catch(() => undefined);
  await call({ name: "no-such-tool", arguments: {} }).catch(() => undefined);
  await client.setLoggingLevel("debug");
  const { resources } = await client.listResources();
  await client.listResourceTemplates();
  await client.readResource({ uri: resources[0].uri });
  await client.readResource({ uri: "demo://resource/dynamic/none" }).catch(() => undefined);
  await client.subscribeResource({ uri: resources[0].uri });
  await client.unsubscribeResource({ uri: resources[0].uri });
  const { prompts } = await client.listPrompts();
  await client.getPrompt({ name: "simple-prompt" });
  await client.getPrompt({ name: "args-prompt", arguments: { city: "Paris" } });
  await client.complete({
    ref: { type: "ref/prompt", name: "completable-prompt" },
    argument: { name: "department", value: "E" },
  });
  await client.sendRootsListChanged();
  await client.ping();
  return { called, prompts: prompts.map(({ name }) => name) };
}
