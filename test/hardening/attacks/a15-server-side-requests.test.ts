import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server } from "node:net";
import { oauth, SignInError } from "@parlance/mcp/auth";
import { publicFetch } from "@parlance/mcp/auth-node";
import { connect, textOf } from "@parlance/mcp/client";
import { expect, onTestFinished, test } from "vitest";
import { addressKind } from "../../../packages/mcp/src/auth/addresses.js";
import { startProtectedServer, startSignInServer } from "../../auth/client/protected-server.js";

/** A server on a socket of this machine, and the number of connections that reached it. */
async function target(respond: RequestListener = (_, response) => response.end("secret")) {
  return counted(createServer(respond));
}

async function counted(server: Server) {
  let connections = 0;
  const sockets = new Set<{ destroy(): unknown }>();
  server.on("connection", (socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("error", () => undefined); // The client may refuse what it gets.
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { port, connections: () => connections };
}

/** A name server that responds with the next list at each lookup, and with the last one from then on. */
function names(...answers: readonly (readonly string[])[]) {
  const asked: string[] = [];
  const lookup = async (hostname: string): Promise<readonly string[]> => {
    asked.push(hostname);
    return answers[Math.min(asked.length, answers.length) - 1] ?? [];
  };
  return { lookup, asked };
}

test.each([
  ["a public address", "93.184.216.34", "public"],
  ["a public address", "2606:4700:4700::1111", "public"],
  ["a public address behind NAT64", "64:ff9b::5db8:d822", "public"],
  ["a private address", "10.1.2.3", "private"],
  ["a private address", "172.31.255.255", "private"],
  ["a private address", "192.168.0.1", "private"],
  ["an address of a carrier's network", "100.64.0.1", "private"],
  ["a unique local address", "fd12:3456::1", "private"],
  ["a private address in IPv6 notation", "::ffff:10.0.0.1", "private"],
  ["a private address behind NAT64", "64:ff9b::a00:1", "private"],
  ["this machine", "127.8.9.10", "loopback"],
  ["this machine", "::1", "loopback"],
  ["this machine in IPv6 notation", "::ffff:7f00:1", "loopback"],
  ["a link-local address", "169.254.169.254", "reserved"],
  ["a link-local address", "fe80::1", "reserved"],
  ["a link-local address with a zone", "fe80::1%eth0", "reserved"],
  ["a link-local address in IPv6 notation", "::ffff:a9fe:a9fe", "reserved"],
  ["a link-local address behind NAT64", "64:ff9b::a9fe:a9fe", "reserved"],
  ["a metadata service", "fd00:ec2::254", "reserved"],
  ["a metadata service", "100.100.100.200", "reserved"],
  ["no address", "0.0.0.0", "reserved"],
  ["no address", "::", "reserved"],
  ["an address that embeds another", "2002:7f00:1::", "reserved"],
  ["an address that embeds another", "::7f00:1", "reserved"],
  ["a multicast address", "224.0.0.1", "reserved"],
  ["a multicast address", "ff02::1", "reserved"],
  ["a text that is no address", "example.com", "reserved"],
])("A15: %s: %s is %s", (_, address, kind) => {
  expect(addressKind(address)).toBe(kind);
});

test.each([
  ["127.0.0.1", "loopback"],
  ["127.1", "loopback"],
  ["2130706433", "loopback"],
  ["0x7f.1", "loopback"],
  ["0177.0.0.1", "loopback"],
  ["localhost", "loopback"],
  ["LOCALHOST.", "loopback"],
  ["a.localhost", "loopback"],
  ["[::1]", "loopback"],
  ["[::]", "reserved"],
  ["[::ffff:127.0.0.1]", "loopback"],
  ["[64:ff9b::7f00:1]", "loopback"],
  ["0", "reserved"],
])("A15: a URL with the host %s reaches nothing", async (host, kind) => {
  const { port, connections } = await target();
  const fetch = publicFetch();
  for (const scheme of ["http", "https"]) {
    const error = await fetch(new URL(`${scheme}://${host}:${port}/`), {}).catch((thrown: unknown) => thrown);
    expect(String(error)).toContain(`is a ${kind} address`);
  }
  expect(connections()).toBe(0);
});

test.each([
  [["127.0.0.1"]],
  [["10.0.0.1"]],
  [["169.254.169.254"]],
  [["::ffff:127.0.0.1"]],
  [["93.184.216.34", "127.0.0.1"]],
  [[]],
])("A15: a name that resolves to %j reaches nothing", async (addresses) => {
  const { port, connections } = await target();
  const { lookup, asked } = names(addresses);
  const error = await publicFetch({ lookup })(new URL(`https://evil.test:${port}/`), {}).catch(
    (thrown: unknown) => thrown,
  );
  expect(String(error)).toContain("was not requested");
  expect({ asked, connections: connections() }).toEqual({ asked: ["evil.test"], connections: 0 });
});

test("A15: a name that changes after the check is not looked up again", async () => {
  const { port, connections } = await target((_, response) => response.end("checked"));
  const { lookup, asked } = names(["127.0.0.1"], ["169.254.169.254"]);
  const fetch = publicFetch({ privateHosts: ["mcp.test"], lookup });
  const response = await fetch(new URL(`http://mcp.test:${port}/`), {});
  expect(await response.text()).toBe("checked");
  expect({ asked, connections: connections() }).toEqual({ asked: ["mcp.test"], connections: 1 });
  // Each request is checked anew.
  await expect(fetch(new URL(`http://mcp.test:${port}/`), {})).rejects.toThrow("169.254.169.254 is a reserved address");
  expect(asked).toHaveLength(2);
});

test("A15: without HTTPS, a private host is reached on this machine only", async () => {
  const { lookup } = names(["10.0.0.1"]);
  const fetch = publicFetch({ privateHosts: ["mcp.test"], lookup });
  await expect(fetch(new URL("http://mcp.test/"), {})).rejects.toThrow(
    "http://mcp.test was not requested: it is not HTTPS",
  );
});

test("A15: metadata addresses are refused, also for a private host", async () => {
  const { lookup } = names(["169.254.169.254"]);
  const fetch = publicFetch({ privateHosts: ["mcp.test", "169.254.169.254"], lookup });
  for (const url of ["https://mcp.test/", "https://169.254.169.254/"])
    await expect(fetch(new URL(url), {})).rejects.toThrow("169.254.169.254 is a reserved address");
});

test("A15: HTTPS goes to the checked address", async () => {
  const { port, connections } = await counted(createTcpServer((socket) => socket.destroy()));
  const { lookup } = names(["127.0.0.1"]);
  const fetch = publicFetch({ privateHosts: ["mcp.test"], lookup });
  await expect(fetch(new URL(`https://mcp.test:${port}/`), {})).rejects.toThrow();
  expect(connections()).toBe(1);
});

test("A15: a redirect to this machine is not followed", async () => {
  const hidden = await target();
  const { port } = await target((_, response) =>
    response.writeHead(302, { location: `http://localhost:${hidden.port}/` }).end(),
  );
  const response = await publicFetch({ privateHosts: ["127.0.0.1"] })(new URL(`http://127.0.0.1:${port}/`), {});
  expect(response.status).toBe(302);
  expect(hidden.connections()).toBe(0);
});

test("A15: requests and responses are those of fetch", async () => {
  const { port } = await target((request, response) => {
    response.writeHead(201, "Made", { "set-cookie": ["a=1", "b=2"], "x-type": request.headers["content-type"] });
    request.pipe(response);
  });
  const fetch = publicFetch({ privateHosts: ["localhost"] });
  const url = new URL(`http://localhost:${port}/`);
  const response = await fetch(url, { method: "POST", body: new URLSearchParams({ grant_type: "ü" }) });
  expect([response.status, response.statusText, response.headers.getSetCookie()]).toEqual([
    201,
    "Made",
    ["a=1", "b=2"],
  ]);
  expect(response.headers.get("x-type")).toBe("application/x-www-form-urlencoded;charset=UTF-8");
  expect(await response.text()).toBe("grant_type=%C3%BC");
});

test("A15: a response ends when its signal aborts", async () => {
  const { port } = await target((_, response) => response.write("begun"));
  const ending = new AbortController();
  const fetch = publicFetch({ privateHosts: ["127.0.0.1"] });
  const response = await fetch(new URL(`http://127.0.0.1:${port}/`), { signal: ending.signal });
  const text = response.text();
  ending.abort();
  await expect(text).rejects.toThrow();
});

test("A15: a client signs in through it", async () => {
  await using issuer = await startSignInServer();
  await using server = await startProtectedServer(issuer);
  const auth = oauth({
    redirectUrl: "http://127.0.0.1:33418/callback",
    authorize: async (url) => (await fetch(url, { redirect: "manual" })).headers.get("location") ?? "",
    fetch: publicFetch({ privateHosts: ["127.0.0.1"] }),
  });
  await using client = await connect(server.url, { auth, reopen: false });
  expect(textOf(await client.tools.call("read"))).toBe("read by ada");
});

// Without sockets, as in web runtimes, hosts that are addresses are checked all the same.
test.each([
  "https://169.254.169.254/",
  "https://[::ffff:a9fe:a9fe]/",
  "https://[fd00:ec2::254]/",
  "https://0x7f.1/",
  "https://10.0.0.1/",
  "https://localhost./",
])("A15: an MCP server on the internet cannot name %s as its authorization server", async (named) => {
  const requested: string[] = [];
  const auth = oauth({
    redirectUrl: "https://app.example/callback",
    authorize: async () => "",
    fetch: async (url) => {
      requested.push(url.href);
      return Response.json({ resource: "https://mcp.example/mcp", authorization_servers: [named] });
    },
  });
  const challenge = { status: 401, headers: { "www-authenticate": "Bearer" } };
  const error: unknown = await connect("https://mcp.example/mcp", {
    auth,
    fetch: async () => new Response(null, challenge),
    reopen: false,
  }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(SignInError);
  expect(requested).toEqual(["https://mcp.example/.well-known/oauth-protected-resource/mcp"]);
});
