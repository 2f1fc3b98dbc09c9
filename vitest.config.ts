import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { configDefaults, defineConfig } from "vitest/config";
import { Tally } from "./test/tally.js";

const oracle = fileURLToPath(new URL("test/oracle/", import.meta.url));
const entries = fileURLToPath(new URL("packages/mcp/src/entries/", import.meta.url));
/** Where `.ci/run` wants the tally of the run. */
const tallyFile = process.env.TALLY_FILE;

/**
 * Files that only `npm run test:all` runs, which CI does: long forms of behaviour that shorter tests cover too, tests of software that
 * `npm ci` does not install, of which `npm test` runs one file each, and tests of what surrounds the software: the examples but one, the
 * programs in the docs, the packages as they are published, and the page in a browser. Files that have both forms choose by
 * test/testing/forms.ts.
 */
const longForms = [
  "test/bridge/matrix.test.ts",
  "test/cli/commands/completion.test.ts",
  "test/cli/commands/tap/tap-trouble.test.ts",
  "test/cli/conventions.test.ts",
  "test/create/installed.test.ts",
  "test/docs/(docs|debug-page|guide-programs|look-page|readme).test.ts",
  "test/examples/!(git-server).test.ts",
  "test/examples/git-server-safety.test.ts", // which the pattern before it does not exclude
  "test/interop/!(http).test.ts",
  "test/interop/http-client.test.ts", // as above
  "test/packages/(packages|release).test.ts",
  "test/portable/portable.test.ts",
  "test/protocol/shapes/equivalence.test.ts",
  "test/web/!(page-server).test.ts",
  "test/wire/conversation/own-conversations.test.ts",
  "test/wire/runs/clean-runs.test.ts",
  "test/wire/runs/clean-runs-http.test.ts",
  "test/wire/runs/misbehaving-http.test.ts",
  "test/wire/runs/misbehaving-run.test.ts",
];

/** A file that replaces modules of the library, and so needs modules of its own. */
const isolated = ["test/protocol/revisions/dummy-revision.test.ts"];

export default defineConfig(({ mode }) => ({
  plugins: [
    {
      // Conversations of our servers and clients are held against the published schemas, whatever a test is about.
      name: "oracle",
      enforce: "pre",
      resolveId(source, importer = "") {
        if (!source.endsWith("/jsonrpc/connection.js")) return undefined;
        if (importer.endsWith("/client/session/client-connection.ts")) return `${oracle}client-connection.ts`;
        return importer.endsWith("/server/session/serve-channel.ts") ? `${oracle}server-connection.ts` : undefined;
      },
    },
  ],
  resolve: {
    // Tests name the public entries and run their sources, so that a failing line is a line of the source.
    alias: [
      { find: /^@parlance\/mcp$/, replacement: `${entries}index.ts` },
      { find: /^@parlance\/mcp\/([a-z-]+)$/, replacement: `${entries}$1.ts` },
      { find: /^@parlance\/wire$/, replacement: fileURLToPath(new URL("packages/wire/src/index.ts", import.meta.url)) },
    ],
  },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: "shared",
          include: ["test/**/*.test.ts"],
          exclude: [...configDefaults.exclude, ...isolated, ...(mode === "all" ? [] : longForms)],
          // A worker loads the sources once, not once per test file, which would take more time than most files do. So helpers must
          // not register hooks when they are loaded: only the first file of a worker would have them. `onTestFinished` serves instead.
          isolate: false,
          // Here, because a project that extends this file does not get its mode.
          env: { PARLANCE_LONG: mode === "all" ? "1" : "" },
        },
      },
      { extends: true, test: { name: "isolated", include: isolated } },
    ],
    setupFiles: [`${oracle}setup.ts`],
    server: { deps: { external: [/\/packages\/\w+\/dist\//] } },
    pool: "forks",
    // More than there are cores, because many tests wait for a process that they have started.
    maxWorkers: availableParallelism() + 2,
    // For a test that hangs, so that a busy machine fails none. What a test waits for has its own, shorter, deadline.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
    reporters: tallyFile === undefined ? ["default"] : ["default", new Tally(tallyFile)],
  },
}));
