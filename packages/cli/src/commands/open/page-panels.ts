import { escapeControls } from "@parlance/mcp/jsonrpc";
import type { PageContract, PageMethods, PageOrigin, PageProcess } from "@parlance/web/protocol";
import type { Conversation, HeaderEntry } from "@parlance/wire";
import { visibleLines } from "../../shared/output/columns.js";
import { shellWord } from "../../shared/output/shell-word.js";
import { commandOf } from "../export/exported.js";
import type { LiveRecording } from "./live-recording.js";
import { definitionOf } from "./page-costs.js";

type Session = Conversation["sessions"][number];
type Side = Session["contract"]["client"];

/** The declared capabilities of the sides of each session, and their use. */
export function contractsOf(conversation: Conversation | undefined): readonly PageContract[] {
  return (conversation?.sessions ?? []).map(({ name, contract, tools }) => ({
    session: escapeControls(name),
    client: sideOf(contract.client),
    server: sideOf(contract.server),
    requested: plain(contract.requested),
    negotiated: plain(contract.negotiated),
    versions: [...contract.versions].map(([version, requests]) => [escapeControls(version), requests]),
    tools: {
      count: tools.size,
      bytes: [...tools.values()].reduce((sum, tool) => sum + (definitionOf(tool)?.bytes ?? 0), 0),
    },
  }));
}

function sideOf({ name, version, declaredIn, changedIn, capabilities }: Side): PageContract["client"] {
  return {
    program: plain(name === undefined ? undefined : `${name} ${version ?? ""}`.trim()),
    declaredIn,
    changedIn,
    capabilities: capabilities.map((each) => ({ ...each, path: escapeControls(each.path) })),
  };
}

/** The processes of the servers of a recording, and how they were started. */
export function processesOf(recording: LiveRecording | undefined): ReturnType<PageMethods["processes"]> {
  if (recording === undefined) return { origin: originOf(undefined), processes: [] };
  const { conversation, header } = recording;
  const pending = conversation.pending();
  return { origin: originOf(header), processes: conversation.sessions.map((session) => processOf(session, pending)) };
}

function processOf(session: Session, pending: ReturnType<Conversation["pending"]>): PageProcess {
  const { pid, startedAt, failure, stdinEndedAt, signals, end, stderr, stderrBytes } = session.process;
  return {
    session: escapeControls(session.name),
    pid,
    startedAt,
    failure: plain(failure),
    stdinEndedAt,
    signals,
    end,
    stderrBytes,
    stderr: stderr.map(({ n, at, text }) => ({ n, at, text: visibleLines(text.trimEnd()).join("\n") })),
    unanswered: pending
      .filter((each) => each.session === session && each.state !== "not due")
      .map(({ operation: { request }, reason }) => ({
        n: request.frame.n,
        method: escapeControls(request.method ?? ""),
        reason,
      })),
  };
}

function originOf(header: HeaderEntry | undefined): PageOrigin {
  const { server, host, app, mode, t0 } = header ?? {};
  const command = header && commandOf(header)?.map(shellWord).join(" ");
  return {
    mode,
    command: plain(command),
    cwd: plain(server?.cwd),
    envNames: (server?.envNames ?? []).map((name) => escapeControls(name)),
    url: plain(server?.url),
    host: plain(host && `${host.name ?? "a host"}${host.pid === undefined ? "" : `, pid ${host.pid}`}`),
    recorder: app && `${app.name} ${app.ver}`,
    startedOn: t0,
  };
}

/** A text of the recording without control characters. */
function plain(text: string | undefined): string | undefined {
  return text === undefined ? undefined : escapeControls(text);
}
