import type { StoredCredentials } from "@parlance/mcp/auth";
import { escapeControls } from "@parlance/mcp/jsonrpc";
import { covers } from "./protected-resource.js";
import { credentialsFile } from "./sign-in.js";

/** A stored sign-in. */
interface SignIn {
  readonly credentials: StoredCredentials;
  /** The facts of the sign-in as text, without secrets. */
  readonly lines: readonly string[];
  /** Deletes its tokens on this machine. */
  readonly forget: () => Promise<void>;
}

/** The stored sign-ins for a server, or for all servers. */
export async function signInsAt(url?: URL): Promise<readonly SignIn[]> {
  const { fileTokenStore } = await import("@parlance/mcp/auth-node");
  const store = fileTokenStore(credentialsFile(process.env));
  return [...(await store.entries())]
    .filter(([, { tokens, resource }]) => tokens !== undefined && (url === undefined || covers(resource, url)))
    .map(([key, credentials]) => ({ credentials, lines: linesOf(credentials), forget: async () => store.delete(key) }));
}

function linesOf({ resource, issuer, client, tokens }: StoredCredentials): readonly string[] {
  const { scopes = [], expiresAt, refreshToken } = tokens ?? {};
  const expiry = expiresAt === undefined ? "when the server says so" : new Date(expiresAt).toISOString();
  const parts = [
    ["server", resource],
    ["authorization server", issuer],
    ["client id", client?.id],
    ["scopes", scopes.join(" ") || undefined],
    ["expires", refreshToken === undefined ? expiry : `${expiry}, and is renewed`],
  ] as const;
  return parts.flatMap(([name, value]) =>
    value === undefined ? [] : [`${name.padEnd(titleWidth)}  ${escapeControls(value)}`],
  );
}

const titleWidth = "authorization server".length;
