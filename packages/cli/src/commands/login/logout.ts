import type { StoredCredentials } from "@parlance/mcp/auth";
import { escapeControls } from "@parlance/mcp/jsonrpc";
import type { Command } from "commander";
import { signInsAt } from "../../shared/client/kept-sign-ins.js";
import { exitCodes } from "../../shared/exit-codes.js";
import type { Invocation } from "../../shared/invocation.js";
import { jsonLine } from "../../shared/output/json-lines.js";
import { serverUrl } from "./command.js";

const exitHelp = `Exit codes:
  0  done, or there was no sign-in
  1  the command line is wrong`;

const logoutExitHelp = `${exitHelp}
  3  the tokens are deleted, but the authorization server failed to revoke them
     (0 if it has no revocation: the output says so)`;

interface LogoutFlags {
  readonly clientId?: string;
}

/** Adds `parlance logout`. */
export function registerLogout(program: Command, invocation: Invocation): void {
  program
    .command("logout")
    .summary("sign out of a server")
    .description(
      `Revoke the tokens for a server at its authorization server, and delete them on this machine. Some
authorization servers cannot revoke tokens: they accept them until they expire.`,
    )
    .argument("<url>", "the address of the server")
    .option("--client-id <id>", "the id that was given to parlance login")
    .addHelpText("after", `\n${logoutExitHelp}\n\nExamples:\n  parlance logout https://example.com/mcp`)
    .action((url: string, flags: LogoutFlags) => invocation.run(() => logout(url, flags, invocation)));
}

/** Adds `parlance whoami`. */
export function registerWhoami(program: Command, invocation: Invocation): void {
  program
    .command("whoami")
    .summary("list the servers that you are signed in to")
    .description("List the servers that you are signed in to, or the sign-in at one of them.")
    .argument("[url]", "the address of a server")
    .option("--json", "print one JSON object per line, for programs")
    .addHelpText("after", `\n${exitHelp}\n\nExamples:\n  parlance whoami\n  parlance whoami https://example.com/mcp`)
    .action((url: string | undefined, flags: { readonly json?: true }) =>
      invocation.run(() => whoami(url, flags.json === true, invocation)),
    );
}

async function logout(word: string, { clientId }: LogoutFlags, { out, err }: Invocation): Promise<number> {
  const url = serverUrl(word);
  const signIns = await signInsAt(url);
  let exitCode: number = exitCodes.clean;
  for (const { credentials, forget } of signIns) {
    const [resource, issuer] = [credentials.resource, credentials.issuer].map(escapeControls);
    const revocation = await revoked(credentials, clientId);
    await forget();
    out.print(`${revocation.kind === "revoked" ? "revoked and deleted" : "deleted"} the tokens for ${resource}`);
    if (revocation.kind === "unsupported")
      err.print(`${issuer} cannot revoke tokens: it may accept them until they expire`);
    if (revocation.kind !== "failed") continue;
    err.print(`the tokens were not revoked: ${escapeControls(revocation.reason)}`, `  → end the session at ${issuer}`);
    exitCode = exitCodes.unreachable;
  }
  if (signIns.length === 0) err.print(`not signed in to ${url.href}`);
  return exitCode;
}

async function revoked(credentials: StoredCredentials, clientId: string | undefined) {
  const [{ revokeTokens }, { publicFetch }] = await Promise.all([
    import("@parlance/mcp/auth"),
    import("@parlance/mcp/auth-node"),
  ]);
  const { hostname } = new URL(credentials.resource);
  const fetch = publicFetch({ privateHosts: [hostname] });
  return revokeTokens(credentials, { fetch, ...(clientId === undefined ? {} : { clientId }) });
}

async function whoami(word: string | undefined, json: boolean, { out, err }: Invocation): Promise<number> {
  const url = word === undefined ? undefined : serverUrl(word);
  const signIns = await signInsAt(url);
  for (const [index, { credentials, lines }] of signIns.entries()) {
    const { resource, issuer, client, tokens } = credentials;
    const { scopes, expiresAt } = tokens ?? {};
    if (json) out.print(jsonLine({ resource, issuer, clientId: client?.id, scopes, expiresAt }));
    else out.print(...(index === 0 ? [] : [""]), ...lines);
  }
  if (signIns.length === 0)
    err.print(`not signed in${url === undefined ? "" : ` to ${url.href}`}`, "  → parlance login <url>");
  return exitCodes.clean;
}
