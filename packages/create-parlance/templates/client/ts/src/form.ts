import type { ConnectOptions } from "@parlance/mcp/client";

/** Reads a line from the user after a question; undefined if there is no more input. */
type Ask = (question: string) => Promise<string | undefined>;

/** Lets the user fill in the forms that servers request: elicitation. An empty line takes the default, or leaves the field out. */
export function formHandlers(ask: Ask): NonNullable<ConnectOptions["handlers"]> {
  return {
    async elicitation({ message, requestedSchema: { properties } }) {
      const agreed = await ask(`${message}\nFill in the form? [y/n] `);
      if (agreed === undefined) return { action: "cancel" };
      if (!isYes(agreed)) return { action: "decline" };
      const content: Record<string, string | number | boolean> = {};
      for (const [name, field] of Object.entries(properties)) {
        const answer = (await ask(`${field.title ?? name} (${field.type}): `))?.trim();
        if (answer === undefined) return { action: "cancel" };
        if (answer === "") continue;
        content[name] = field.type === "boolean" ? isYes(answer) : field.type === "string" ? answer : Number(answer);
      }
      return { action: "accept", content };
    },
  };
}

function isYes(answer: string): boolean {
  return /^(y|yes|true)$/i.test(answer.trim());
}
