import { fileURLToPath } from "node:url";
import { configDefaults, defineConfig } from "vitest/config";
import { Tally } from "./test/tally.js";

const oracle = fileURLToPath(new URL("test/oracle/", import.meta.url));
const entries = fileURLToPath(new URL("packages/mcp/src/entries/", import.meta.url));
/** Where `.ci/run` wants the tally of the run. */
const tallyFile = process.env.TALLY_FILE;

/**
 * What only `npm run test:all` runs, which CI does: long forms of what shorter tests look at too. Within a file that runs in
 * both, PARLANCE_LONG says which form is wanted.
 */
const longForms = [
  "test/bridge/matrix.test.ts",
  "test/cli/commands/completion.test.ts",
  "test/cli/conventions.test.ts",
  "test/examples/contacts-import.test.ts",
  "test/examples/contacts-questions.test.ts",
  "test/protocol/shapes/equivalence.test.ts",
  "test/wire/runs/clean-runs.test.ts",
  "test/wire/runs/clean-runs-http.test.ts",
  "test/wire/runs/misbehaving-http.test.ts",
  "test/wire/runs/misbehaving-run.test.ts",
  "test/wire/conversation/own-conversations.test.ts",
  "test/cli/commands/tap/tap-trouble.test.ts",
];

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
    include: ["test/**/*.test.ts"],
    exclude: mode === "all" ? configDefaults.exclude : [...configDefaults.exclude, ...longForms],
    env: { PARLANCE_LONG: mode === "all" ? "1" : "" },
    setupFiles: [`${oracle}setup.ts`],
    pool: "forks",
    // All cores: much of the time a test waits for a process of its own.
    maxWorkers: "100%",
    // For a test that hangs. What a test waits for has its own, shorter, deadline.
    testTimeout: 20_000,
    hookTimeout: 20_000,
    expect: { poll: { timeout: 10_000 } },
    reporters: tallyFile === undefined ? ["default"] : ["default", new Tally(tallyFile)],
  },
}));
