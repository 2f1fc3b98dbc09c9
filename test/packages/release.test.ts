import { execFile, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const script = join(root, "scripts/release.js");
// No registry is asked: a dry run needs none.
const env: NodeJS.ProcessEnv = {
  ...process.env,
  npm_config_registry: "http://127.0.0.1:9",
  npm_config_fetch_retries: "0",
};

test("a dry run publishes nothing, and npm would accept every package, after those that it depends on", async () => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [script, "--dry-run"], { cwd: root, env });
  expect(stdout).toContain("would run: .ci/run\n");
  const accepted = [...stdout.matchAll(/^\+ (?<name>.+)@\d+\.\d+\.\d+$/gm)].map(({ groups }) => groups?.name);
  const ours = accepted.filter((name) => name?.startsWith("@parlance/"));
  expect(ours).toEqual(["@parlance/cli", "@parlance/mcp", "@parlance/wire"]);
  expect(stdout).toContain("npm publish --provenance --access public --dry-run\n");
  expect(stdout).toMatch(/Nothing was published\n$/);
  // npm says so when it changes package.json while it publishes.
  expect(stderr).not.toContain("auto-corrected");
});

test("a release stops before the first command when something is not ready", async () => {
  const folder = await mkdtemp(join(tmpdir(), "release-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const write = async (path: string, content: object | string): Promise<void> => {
    await mkdir(join(folder, path, ".."), { recursive: true });
    await writeFile(join(folder, path), typeof content === "string" ? content : JSON.stringify(content));
  };
  await write("packages/a/package.json", { name: "a", version: "0.2.0", dependencies: { b: "0.1.0" } });
  await write("packages/b/package.json", { name: "b", version: "0.2.0" });
  await write("packages/c/package.json", { name: "c", version: "0.1.0" });
  await write("packages/d/package.json", { name: "d", version: "9.0.0", private: true });
  await write("CHANGELOG.md", "# Changelog\n\n## [Unreleased]\n");
  spawnSync("git", ["init", "--quiet"], { cwd: folder });
  spawnSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "--allow-empty", "-m", "a"], {
    cwd: folder,
  });

  const { status, stdout } = spawnSync(process.execPath, [script], {
    cwd: folder,
    env: { ...env, ACTIONS_ID_TOKEN_REQUEST_URL: undefined },
    encoding: "utf8",
  });
  expect(status).toBe(1);
  expect(stdout.trim().split("\n")).toEqual([
    "not ready: a depends on b 0.1.0, not 0.2.0",
    "not ready: c has version 0.1.0, not 0.2.0",
    'not ready: CHANGELOG.md has no heading "## [0.2.0] - <date>"',
    "not ready: the working tree has changes that are not committed",
    "not ready: HEAD has no tag v0.2.0",
    "not ready: provenance needs the release workflow",
  ]);
});
