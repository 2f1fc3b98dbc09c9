import * as z from "zod";
import { Blame, blameFormat, parseBlame } from "./blame.js";
import { Changes, changesFormat, parseChanges } from "./changes.js";
import { commitFormat, Log, logFormat, parseCommit, parseLog, WholeCommit } from "./commits.js";
import { isInside, isRevision } from "./git.js";
import { gitTool } from "./git-tool.js";
import { parseStatus, Status, statusFormat } from "./status.js";

/** @import { Server } from "@parlance/mcp/server" */
/** @import { Repository } from "./git.js" */

// Descriptions are for the model: what a tool is for, what it takes, and what its answer means.

const path = z
  .string()
  .min(1)
  .max(4096)
  .refine(isInside, "must be inside the repository: relative to its root, without ..")
  .describe("A file or folder, relative to the root of the repository; * and the like are plain characters");

const revision = z
  .string()
  .min(1)
  .max(256)
  .refine(isRevision, "must name one commit, such as main, v1.0, 4f2a91c or HEAD~2")
  .describe("A commit: a branch, a tag, a hash, HEAD~2 and the like");

const lineNumber = z.int().min(1);

/** A short name is few bytes of git's output, and many of an answer. */
const mostFiles = 10_000;

const filesAreMissing = "Files are missing: ask again with a path";
const patchIsCut = "The patch is cut: ask again with a path";
const historyEnds = "This clone is shallow and its history ends here, so that every file counts as added";

const gitStatus = gitTool(
  "git_status",
  {
    title: "Git status",
    description:
      "Shows the current branch, how far it is ahead of and behind its upstream, and every file that has changes, " +
      "staged or not, has conflicts, or is untracked. A good first look at a repository.",
    inputSchema: z.strictObject({ path: path.optional() }),
    outputSchema: Status,
  },
  async ({ path }, git) => {
    const output = await git.run(["status", ...statusFormat, "--", ...given(path)]);
    const { files, ...head } = parseStatus(output);
    const cut = output.cut || files.length > mostFiles;
    return { ...head, files: files.slice(0, mostFiles), note: cut ? filesAreMissing : undefined };
  },
);

const gitLog = gitTool(
  "git_log",
  {
    title: "Git log",
    description:
      "Lists commits, newest first: of HEAD or another revision, all of them or those that change a path. " +
      "With exclude, those that the one revision has and the other has not, such as the commits of a branch.",
    inputSchema: z.strictObject({
      revision: revision.optional().describe("Where to start: a branch, a tag, a hash. Default: HEAD"),
      exclude: revision.optional().describe("Leaves out the commits that this revision has as well"),
      path: path.optional(),
      limit: z.int().min(1).max(500).default(20),
      skip: z.int().min(0).max(1_000_000).default(0).describe("How many to pass over, to see older ones"),
    }),
    outputSchema: Log,
  },
  async ({ revision, exclude, path, limit, skip }, git) => {
    // A new repository has no HEAD: that is an empty list, not a fault.
    const start = revision === undefined ? ["--ignore-missing", "HEAD"] : [await git.commit(revision)];
    const end = exclude === undefined ? [] : [`^${await git.commit(exclude)}`];
    const bounds = [`--max-count=${limit + 1}`, `--skip=${skip}`];
    const output = await git.run(["log", ...logFormat, ...bounds, ...start, ...end, "--", ...given(path)]);
    const commits = parseLog(output);
    return { commits: commits.slice(0, limit), more: output.cut || commits.length > limit };
  },
);

const gitDiff = gitTool(
  "git_diff",
  {
    title: "Git diff",
    description:
      "Shows changes as a list of files with counts of lines, and as a patch. Without arguments: what is changed in " +
      "the working tree but not staged. With staged: what the next commit would change. With from: what the working " +
      "tree has changed since that revision. With from and to: what has changed from the one to the other.",
    inputSchema: z
      .strictObject({
        from: revision.optional(),
        to: revision.optional(),
        staged: z.boolean().default(false).describe("Compare the index, and not the working tree"),
        path: path.optional(),
      })
      .refine(({ from, to, staged }) => to === undefined || (from !== undefined && !staged), {
        path: ["to"],
        message: "goes with from, and without staged",
      }),
    outputSchema: Changes,
  },
  async ({ from, to, staged, path }, git) => {
    if (staged) await git.requireWorkTree();
    const sides = staged ? ["--cached"] : [];
    if (from !== undefined) sides.push(await git.commit(from));
    if (to !== undefined) sides.push(await git.commit(to));
    // A file with a conflict is compared with our side of it; a comparison with both has no counts.
    if (sides.length === 0) sides.push("--ours");
    const output = await git.run(["diff", ...changesFormat, ...sides, "--", ...given(path)]);
    return { ...parseChanges(output), note: output.cut ? patchIsCut : undefined };
  },
);

const gitShow = gitTool(
  "git_show",
  {
    title: "Git show",
    description:
      "Shows one commit: who wrote it and when, the whole message, and what it has changed, as git_diff does. " +
      "A merge is shown with what it has brought to its first parent.",
    inputSchema: z.strictObject({ revision: revision.default("HEAD"), path: path.optional() }),
    outputSchema: z.object({ commit: WholeCommit, ...Changes.shape }),
  },
  async ({ revision, path }, git) => {
    const hash = await git.commit(revision);
    const commit = parseCommit(await git.run(["log", ...commitFormat, "--max-count=1", hash]));
    const scope = ["--format=", "--root", "--diff-merges=first-parent", hash, "--", ...given(path)];
    const output = await git.run(["show", ...changesFormat, ...scope]);
    const notes = output.cut ? [patchIsCut] : [];
    if (commit.parents.length === 0 && (await git.isShallow())) notes.push(historyEnds);
    return { commit, ...parseChanges(output), note: notes.join(". ") || undefined };
  },
);

const gitBlame = gitTool(
  "git_blame",
  {
    title: "Git blame",
    description: "Tells for each line of a file, or of a part of it, which commit has last changed it.",
    inputSchema: z.strictObject({
      path,
      revision: revision.default("HEAD"),
      firstLine: lineNumber.optional(),
      lastLine: lineNumber.optional(),
    }),
    outputSchema: Blame,
  },
  async ({ path, revision, firstLine, lastLine }, git) => {
    const hash = await git.commit(revision);
    const whole = firstLine === undefined && lastLine === undefined;
    const range = whole ? [] : [`-L${firstLine ?? 1},${lastLine ?? ""}`];
    const output = await git.run(["blame", ...blameFormat, ...range, hash, "--", path]);
    const blame = parseBlame(output);
    const next = (blame.lines.at(-1)?.line ?? 0) + 1;
    return { ...blame, note: output.cut ? `Lines are missing: ask again with firstLine ${next}` : undefined };
  },
);

/**
 * @param {Server} server
 * @param {Repository} repository
 */
export function addTools(server, repository) {
  for (const add of [gitStatus, gitLog, gitDiff, gitShow, gitBlame]) add(server, repository);
}

/** @param {string | undefined} path */
function given(path) {
  return path === undefined ? [] : [path];
}
