import type { StoredCredentials } from "@parlance/mcp/auth";
import type { FileTokenStore } from "@parlance/mcp/auth-node";
import { escapeControls } from "@parlance/mcp/jsonrpc";
import { covers } from "./protected-resource.js";
import { credentialsFile } from "./sign-in.js";

/** A stored sign-in. */
export interface SignIn {
  readonly key: string;
  readonly credentials: StoredCredentials;
  /** The facts of the sign-in as text, without secrets. */
  readonly lines: readonly string[];
}

/** Opens the store of the command. */
export async function openStore(): Promise<FileTokenStore> {
  const { fileTokenStore } = await import("@parlance/mcp/auth-node");
  return fileTokenStore(credentialsFile(process.env));
}

/** The stored sign-ins for a server, or for all servers. */
export async function signInsAt(store: FileTokenStore, url?: URL): Promise<readonly SignIn[]> {
  const entries = [...(await store.entries())];
  return entries
    .filter(([, { tokens, resource }]) => tokens !== undefined && (url === undefined || covers(resource, url)))
    .map(([key, credentials]) => ({ key, credentials, lines: linesOf(credentials) }));
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
