import { describe, expect, test } from "vitest";
import { methodAliases, versionAliases } from "../../../packages/mcp/src/protocol/revisions/aliases.js";
import {
  handshakeVersions,
  latest,
  latestHandshake,
  revisionOf,
  revisions,
  statelessVersions,
  versions,
} from "../../../packages/mcp/src/protocol/revisions/all.js";
import { hasMethodTable, hasSchemas, type MethodRow, methodsIn, readMethodTable } from "./published.js";

const sides = ["client", "server"] as const;

describe("the list of revisions", () => {
  test("goes from the oldest to the newest", () => {
    expect(revisions.map(({ version }) => version)).toEqual([
      "2024-11-05",
      "2025-03-26",
      "2025-06-18",
      "2025-11-25",
      "2026-07-28",
    ]);
    expect(versions).toEqual(revisions.map(({ version }) => version).reverse());
  });

  test("knows the newest revision, and the newest one that initialize can settle on", () => {
    expect(latest.version).toBe("2026-07-28");
    expect(latest.era).toBe("stateless");
    expect(latestHandshake.version).toBe("2025-11-25");
    expect(latestHandshake.era).toBe("handshake");
  });

  test("offers initialize no revision that has no initialize", () => {
    expect(handshakeVersions).toEqual(["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]);
    expect(statelessVersions).toEqual(["2026-07-28"]);
    for (const { version, requests } of revisions) {
      expect(requests.client.has("initialize")).toBe(handshakeVersions.includes(version));
    }
  });

  test.each(["", "0.1.0", "2024-10-07", "2026-07-29", "__proto__", "constructor"])("has no revision %j", (version) => {
    expect(revisionOf(version)).toBeUndefined();
  });
});

describe("what may be sent", () => {
  test.each([
    ["server/discover", "client", ["2026-07-28"]],
    ["ping", "client", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]],
    ["tasks/result", "server", ["2025-11-25"]],
    ["elicitation/create", "server", ["2025-06-18", "2025-11-25"]],
    ["elicitation/create", "client", []],
    ["tools/call", "server", []],
    ["resources/get", "client", []],
    ["constructor", "client", []],
  ] as const)("%s is a request of the %s in %j", (method, side, having) => {
    const found = revisions.filter(({ requests }) => requests[side].has(method));
    expect(found.map(({ version }) => version)).toEqual(having);
  });

  test("a server without requests of its own asks inside a result", () => {
    for (const { era, requests, inputRequests } of revisions) {
      const [asked, none] = era === "stateless" ? [inputRequests, requests.server] : [requests.server, inputRequests];
      expect(asked.has("sampling/createMessage")).toBe(true);
      expect(none.size).toBe(0);
    }
  });
});

describe("facts and codes", () => {
  test("one revision has batches", () => {
    expect(revisions.filter(({ facts }) => facts.batches).map(({ version }) => version)).toEqual(["2025-03-26"]);
  });

  test("structured content came as an object and became any value", () => {
    const history = revisions.map(({ facts }) => facts.structuredContent);
    expect(history).toEqual(["none", "none", "object", "object", "any"]);
  });

  test("a resource that is not there got another code in the stateless era", () => {
    const history = revisions.map(({ codes }) => codes.resourceNotFound);
    expect(history).toEqual([-32_002, -32_002, -32_002, -32_002, -32_602]);
  });

  test("codes come and go with what they are about", () => {
    expect(revisions.map(({ codes }) => codes.urlElicitationRequired)).toEqual([
      undefined,
      undefined,
      undefined,
      -32_042,
      undefined,
    ]);
    expect(revisions.map(({ codes }) => codes.unsupportedProtocolVersion ?? 0)).toEqual([0, 0, 0, 0, -32_022]);
  });
});

describe("loose names", () => {
  test("stand for methods and versions that exist, and are none themselves", () => {
    const known = new Set(
      revisions.flatMap((each) =>
        [each.requests, each.notifications].flatMap((by) => sides.flatMap((side) => [...by[side]])),
      ),
    );
    for (const [loose, { method }] of methodAliases) {
      expect(known.has(method)).toBe(true);
      expect(known.has(loose)).toBe(false);
    }
    for (const [loose, version] of versionAliases) {
      expect(versions).toContain(version);
      expect(versions).not.toContain(loose);
    }
  });

  test("bring the names of their params", () => {
    expect(methodAliases.get("$/cancelRequest")?.params).toEqual({ id: "requestId" });
    expect(methodAliases.get("$/progress")?.params).toEqual({ token: "progressToken", value: "progress" });
  });
});

describe.skipIf(!hasSchemas)("the published schema, where ../shared/schemas has it,", () => {
  test.each(revisions)(
    "of $version has the same methods, by who sends them",
    ({ version, requests, notifications, inputRequests }) => {
      expect([...requests.client].toSorted()).toEqual(methodsIn(version, "ClientRequest"));
      expect([...requests.server].toSorted()).toEqual(methodsIn(version, "ServerRequest"));
      expect([...notifications.client].toSorted()).toEqual(methodsIn(version, "ClientNotification"));
      expect([...notifications.server].toSorted()).toEqual(methodsIn(version, "ServerNotification"));
      expect([...inputRequests].toSorted()).toEqual(methodsIn(version, "InputRequest"));
    },
  );
});

describe.skipIf(!hasMethodTable)("the method table, where ../shared/reference has it,", () => {
  /** Whether a row lets a side send its method in a revision. */
  function allows(row: MethodRow, side: "client" | "server", version: string): boolean {
    if (row.extension !== undefined || !row.revisions.includes(version)) return false;
    if (row.embeddedInMrtr?.includes(version)) return false;
    // Prose: "client->server on stdio only; server->client only for …" names both.
    const direction = row.directionByRevision?.[version] ?? row.direction;
    return direction === "both" || direction.includes(`${side}->`);
  }

  test.each(revisions)(
    "says of $version what the revision says",
    ({ version, requests, notifications, inputRequests }) => {
      const rows = readMethodTable().methods;
      const expected = (kind: MethodRow["kind"], side: "client" | "server"): readonly string[] =>
        rows
          .filter((row) => row.kind === kind && allows(row, side, version))
          .map(({ method }) => method)
          .toSorted();
      for (const side of sides) {
        expect([...requests[side]].toSorted()).toEqual(expected("request", side));
        expect([...notifications[side]].toSorted()).toEqual(expected("notification", side));
      }
      const embedded = rows.filter((row) => row.embeddedInMrtr?.includes(version)).map(({ method }) => method);
      expect([...inputRequests].toSorted()).toEqual(embedded.toSorted());
    },
  );

  test("has the same loose names", () => {
    const ours = [...methodAliases].map(([loose, { method }]) => [loose, method]);
    expect(Object.fromEntries(ours)).toEqual(readMethodTable().lenientAliases);
  });
});
