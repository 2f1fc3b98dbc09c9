import type { Command } from "commander";
import { openStore, signInsAt } from "../../shared/client/kept-sign-ins.js";
import { exitCodes } from "../../shared/exit-codes.js";
import type { Invocation } from "../../shared/invocation.js";
import { jsonLine } from "../../shared/output/json-lines.js";
import { serverUrl } from "./command.js";

const exitHelp = `Exit codes:
  0  done, also where there was no sign-in
  1  the command line is wrong`;

/** Adds `parlance logout`. */
export function registerLogout(program: Command, invocation: Invocation): void {
  program
    .command("logout")
    .summary("delete the tokens for a server")
    .description(
      `Delete the tokens for a server on this machine. The authorization server may accept them until they
expire: its own page ends a session there.`,
    )
    .argument("<url>", "the address of the server")
    .addHelpText("after", `\n${exitHelp}\n\nExamples:\n  parlance logout https://example.com/mcp`)
    .action((url: string) => invocation.run(() => logout(url, invocation)));
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

async function logout(word: string, { out, err }: Invocation): Promise<number> {
  const url = serverUrl(word);
  const store = await openStore();
  const signIns = await signInsAt(store, url);
  for (const { key, credentials } of signIns) {
    await store.delete(key);
    out.print(`deleted the tokens for ${credentials.resource}`);
  }
  if (signIns.length === 0) err.print(`not signed in to ${url.href}`);
  return exitCodes.clean;
}

async function whoami(word: string | undefined, json: boolean, { out, err }: Invocation): Promise<number> {
  const url = word === undefined ? undefined : serverUrl(word);
  const signIns = await signInsAt(await openStore(), url);
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
