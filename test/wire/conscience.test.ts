import { describe, test } from "vitest";
import { expectations } from "../fixtures/conscience/expected.js";
import { driveHttp } from "../fixtures/conscience/http-client.js";
import { startServer } from "../fixtures/conscience/running-server.js";
import { serverFile } from "../fixtures/conscience/script.js";
import { driveStdio } from "../fixtures/conscience/stdio-client.js";
import { expectOutcome } from "./outcomes.js";
import { entriesOf, httpEntriesOf } from "./transcript-entries.js";

const { execPath: node } = process;

describe.each(expectations)("$name", ({ script, noise, stdio, http }) => {
  const args = [serverFile, ...(noise ? ["--noise"] : [])];

  test("is seen in the bytes of stdio", async () => {
    expectOutcome(entriesOf(await driveStdio([node, ...args], script)), stdio);
  });

  test("is seen in the bytes of HTTP", async () => {
    await using server = await startServer([...args, "--http"]);
    expectOutcome(httpEntriesOf(await driveHttp(server.url, script)), http);
  });
});
