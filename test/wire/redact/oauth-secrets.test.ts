import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { Entry, FrameEntry } from "../../../packages/wire/src/recording/entry.js";
import { coverCredentials, redact } from "../../../packages/wire/src/redact/redact.js";
import { recorded, stdioFrame } from "../recording/recorded.js";

const secret = (place: string): string => `${[...place].reverse().join("")}-Zk83vQpx`;
const hidden = secret("hidden");

/** A body of HTTP that is not a message of JSON-RPC. */
function body(text: string): Entry {
  return { ...stdioFrame(1, `→ ${text}`), s: "1", ch: "http", nl: "", req: 1 };
}

const bodies = (...entries: readonly Entry[]): string =>
  redact(entries)
    .entries.filter((entry): entry is FrameEntry => entry.k === "f")
    .map(({ raw }) => raw)
    .join("\n");

const names = [
  ...["code", "code_verifier", "client_assertion", "assertion", "device_code", "state", "user_code"],
  ...["nonce", "request_uri"],
];

describe.each(names)("%s is covered", (name) => {
  test.each([
    ["in the query of a URL", `https://login.example/cb?iss=x&${name}=${hidden}&page=2`],
    ["first in a query", `/cb?${name}=${hidden}`],
    ["in a fragment", `/cb#${name}=${hidden}&page=2`],
    ["in a URL within a parameter", `/login?next=%2Fcb%3F${name}%3D${hidden}%26page%3D2`],
  ])("%s, when it is recorded", (_, url) => {
    for (const covered of [coverCredentials({ url }).url, coverCredentials({ headers: [["Location", url]] }).headers]) {
      expect(JSON.stringify(covered)).toContain("█");
      expect(JSON.stringify(covered)).not.toContain(hidden);
    }
    expect(
      bodies(...recorded(`→ {"jsonrpc":"2.0","method":"x","params":{"url":${JSON.stringify(url)}}}`)),
    ).not.toContain(hidden);
  });

  test.each([
    ["first in a form", `${name}=${hidden}&page=2`],
    ["last in a form", `grant_type=page&${name}=${hidden}`],
    ["in a JSON body", JSON.stringify({ client_id: "app", [name]: hidden, page: 2 })],
    [
      "in a URL that a JSON encoder has escaped",
      `{"jsonrpc":"2.0","method":"x","params":{"u":"/?a=b\\u0026${name}=${hidden}\\u0026page=2"}}`,
    ],
    ["in the page of a form", `<a href="/cb?page=2&amp;${name}=${hidden}">`],
  ])("%s, in a copy", (_, text) => {
    const covered = bodies(body(text));
    expect(covered).not.toContain(hidden);
    expect(covered).toContain("█");
    expect(covered).toContain("page");
    expect(Buffer.byteLength(covered)).toBe(text.length);
  });

  test("wherever else it stands", () => {
    const log: Entry = { k: "e", n: 2, s: "1", t: 2, raw: `got ${hidden}\n` };
    const { entries } = redact([body(`grant_type=x&${name}=${hidden}`), log]);
    expect(JSON.stringify(entries)).not.toContain(hidden);
  });
});

test("the code of an error and other members with these names stay", () => {
  const error = `← {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"state: unknown-tool-9","data":{"code":"E_UNKNOWN_42","state":"open-since-2020"}}}`;
  expect(bodies(...recorded(error))).toBe(error.slice(2));
  const plain = JSON.stringify({ error: "not found", code: "E_UNKNOWN_42", state: "open-since-2020" });
  expect(bodies(body(plain))).toBe(plain);
  const log: Entry = {
    k: "e",
    n: 1,
    s: "1",
    t: 1,
    raw: "exit code=ENOENT42\ncode=ENOENT42 state=open-2020\nzipcode=12345&statement=4711\n",
  };
  expect(redact([log]).entries).toEqual([log]);
});

test("a word in a URL is covered there, and nowhere else", () => {
  const { entries } = redact(
    recorded(
      `→ {"jsonrpc":"2.0","method":"x","params":{"uri":"https://maps.example/?state=California"}}`,
      `→ {"jsonrpc":"2.0","method":"x","params":{"text":"California"}}`,
    ),
  );
  expect(JSON.stringify(entries[0])).not.toContain("California");
  expect(JSON.stringify(entries[1])).toContain("California");
});

describe("a private key", () => {
  const d = "870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE";
  const key = JSON.stringify({ kty: "EC", crv: "P-256", x: "public", d });

  test.each([
    ["in a message", `{"jsonrpc":"2.0","method":"x","params":{"key":${key}}}`],
    ["in a text of a message", `{"jsonrpc":"2.0","method":"x","params":{"text":${JSON.stringify(`key: ${key}`)}}}`],
    ["in a body", key],
    ["in noise", `loaded ${key}`],
  ])("as a JSON Web Key is covered %s", (_, text) => {
    const covered = bodies(body(text));
    expect(covered).not.toContain(d.slice(0, 12));
    expect(covered).toContain("public");
  });
});

test("tokens in headers with other names are covered when they are recorded", () => {
  const jwt = `eyJhbGciOiJFUzI1NiJ9.eyJqdGkiOiIxIn0.${hidden}`;
  const { headers } = coverCredentials({
    headers: [
      ["DPoP", jwt],
      ["Cf-Access-Jwt-Assertion", jwt],
      ["Link", `<https://login.example/?code=${hidden}>; rel=next`],
      [
        "WWW-Authenticate",
        'Bearer resource_metadata="https://mcp.example/.well-known/oauth-protected-resource", scope="read"',
      ],
      ["Mcp-Param-Code", `?code=${hidden}`],
    ],
  });
  expect(JSON.stringify(headers?.slice(0, 3))).not.toContain(hidden);
  expect(headers?.slice(3).flat()).toEqual([
    "WWW-Authenticate",
    'Bearer resource_metadata="https://mcp.example/.well-known/oauth-protected-resource", scope="read"',
    "Mcp-Param-Code",
    `?code=${hidden}`,
  ]);
});

test("a DPoP proof with a long key in its header is covered when it is recorded", () => {
  const proof = `eyJ${"n".repeat(700)}.eyJqdGkiOiIxIn0.${hidden}`;
  const { headers } = coverCredentials({
    headers: [
      ["DPoP", proof],
      ["Mcp-Session-Id", "0123456789"],
    ],
  });
  expect(headers?.[0]?.[1]).toMatch(/^[█*]+$/);
  expect(headers?.[1]?.[1]).toBe("0123456789");
});

test("a hostile text is covered in linear time", () => {
  for (const part of ["code=", "?code=a&", "%3fstate%3d", '"d":"', "assertion%", "code=&", "Bearer a="]) {
    const text = part.repeat(400_000);
    expect(Buffer.byteLength(coverCredentials({ url: text }).url ?? "")).toBe(text.length);
  }
});

test("a text that the engine cannot search is covered as a whole", () => {
  // Without optimization, as in a process with much code of patterns, V8 runs out of stack in a long match.
  const script = `
    import { coverCredentials } from "@parlance/wire";
    const { url } = coverCredentials({ url: "%3fstate%3d".repeat(400_000) + " Bearer ${hidden}" });
    console.log([...new Set(url)].sort().join(""), Buffer.byteLength(url));`;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ["--no-regexp-optimization", "--input-type=module", "-e", script],
    { cwd: fileURLToPath(new URL("../../../packages/cli/", import.meta.url)), encoding: "utf8" },
  );
  expect([stdout, stderr]).toEqual([`*█ ${11 * 400_000 + ` Bearer ${hidden}`.length}\n`, ""]);
});
