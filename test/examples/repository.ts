import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** An empty home, so that no configuration is found there. */
export const home = "/nonexistent";

/** One author and one moment for all commits. */
const environment = {
  PATH: process.env.PATH,
  HOME: home,
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "Ada Lovelace",
  GIT_AUTHOR_EMAIL: "ada@example.com",
  GIT_AUTHOR_DATE: "2024-05-06T07:08:09+02:00",
  GIT_COMMITTER_NAME: "Charles Babbage",
  GIT_COMMITTER_EMAIL: "charles@example.com",
  GIT_COMMITTER_DATE: "2024-05-07T00:00:00Z",
};

/** A folder that is gone when the test is over. */
export class Folder implements Disposable {
  readonly path: string = realpathSync(mkdtempSync(join(tmpdir(), "git server ")));

  /** Writes a file, and the folders that it is in. */
  write(name: string, text: string | Uint8Array): void {
    const path = join(this.path, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }

  /** Runs git, and gives what it prints. */
  git(...args: readonly string[]): string {
    return this.gitWith("", ...args);
  }

  /** Runs git with something to read. */
  gitWith(input: string, ...args: readonly string[]): string {
    return execFileSync("git", args, {
      cwd: this.path,
      env: environment,
      encoding: "utf8",
      input,
      maxBuffer: 64 * 1024 * 1024,
      stdio: ["pipe", "pipe", "pipe"],
    });
  }

  /** Commits all that is there, and gives the hash. */
  commit(message: string): string {
    this.git("add", "--all");
    this.git("commit", "--quiet", "--message", message);
    return this.git("rev-parse", "HEAD").trim();
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** A repository without commits, on the branch `main`. */
export function newRepository(): Folder {
  const folder = new Folder();
  folder.git("init", "--quiet", "--initial-branch=main");
  return folder;
}
