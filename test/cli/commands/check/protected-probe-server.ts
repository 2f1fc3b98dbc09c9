import type { Quirk } from "./probe-server.js";

/** The values of `Authorization` of those who ask. */
export const tokens = { good: "Bearer good", foreign: "Bearer foreign", otherUser: "Bearer other" } as const;

type Metadata = Readonly<Record<string, unknown>>;

/** The faults of a server that requires tokens. */
interface Faults {
  /** The status without a token. */
  readonly unauthorized?: number;
  /** The status for an invalid token. */
  readonly invalid?: number;
  /** Changes each challenge of a 401. */
  readonly challenge?: (sound: string) => string;
  /** Changes the metadata below the path of the server; undefined for none anywhere. */
  readonly metadata?: (sound: Metadata, origin: string) => Metadata | undefined;
  /** The scope that a 403 names. */
  readonly scope?: string;
  /** A token that the server accepts although it must not. */
  readonly accepts?: "foreign" | "otherUser" | "query";
}

const place = "/.well-known/oauth-protected-resource";

/** A server that requires a token, with these faults. It is sound without any. */
export function protectedServer({
  unauthorized = 401,
  invalid = 401,
  challenge = (sound) => sound,
  metadata = (sound) => sound,
  scope = "notes:write",
  accepts,
}: Faults = {}): Quirk {
  return {
    http({ url = "", headers }, body) {
      const origin = `http://${headers.host}`;
      if (url.startsWith(place)) {
        const sound = { resource: `${origin}/mcp`, authorization_servers: ["https://login.example"] };
        const changed = metadata(sound, origin);
        if (changed === undefined) return [404];
        return [200, url === place ? { ...changed, resource: origin } : changed];
      }
      const refusal = (status: number, error: string): ReturnType<NonNullable<Quirk["http"]>> => {
        const sound = `Bearer resource_metadata="${origin}${place}/mcp"${error}`;
        return [status, undefined, { "www-authenticate": challenge(sound) }];
      };
      const isInQuery = accepts === "query" && url.includes("access_token=good");
      const { authorization = isInQuery ? tokens.good : undefined } = headers;
      if (authorization === undefined) return refusal(unauthorized, "");
      if (authorization === tokens.otherUser) return accepts === "otherUser" ? undefined : [404];
      const isAccepted = authorization === tokens.good || (accepts === "foreign" && authorization === tokens.foreign);
      if (!isAccepted) return refusal(invalid, ', error="invalid_token"');
      return body.includes('"prompts/list"')
        ? [403, undefined, { "www-authenticate": `Bearer error="insufficient_scope", scope="${scope}"` }]
        : undefined;
    },
  };
}
