/**
 * - `public`: an address of the internet.
 * - `private`: an address of a local network or an overlay network, such as 10.0.0.1 or fd12::1.
 * - `loopback`: an address of this machine.
 * - `reserved`: any other: link-local addresses, the metadata services of cloud providers, multicast, documentation, translation.
 */
export type AddressKind = "public" | "private" | "loopback" | "reserved";

/** The prefix of IPv4 addresses that a NAT64 gateway reaches: 64:ff9b::/96. */
const nat64 = 0x0064_ff9b_0000_0000_0000_0000n;

/** The prefix of IPv4 addresses in IPv6 notation: ::ffff:0:0/96. */
const mapped = 0xffffn;

/**
 * Address ranges; the first one that contains an address decides. IPv4 addresses are those of ::ffff:0:0/96. What no range contains is
 * reserved.
 * https://www.iana.org/assignments/iana-ipv4-special-registry, https://www.iana.org/assignments/iana-ipv6-special-registry
 */
const ranges = (
  [
    // Metadata services of cloud providers that do not have a link-local address.
    ["100.100.100.200/32", "reserved"],
    ["168.63.129.16/32", "reserved"],
    ["192.0.0.192/32", "reserved"],
    ["fd00:ec2::/32", "reserved"],
    ["fd20:ce::/32", "reserved"],

    ["127.0.0.0/8", "loopback"],
    ["10.0.0.0/8", "private"],
    ["172.16.0.0/12", "private"],
    ["192.168.0.0/16", "private"],
    ["100.64.0.0/10", "private"],
    // For benchmarks by its registration. VPN clients that resolve names themselves give them such addresses.
    ["198.18.0.0/15", "private"],
    ["0.0.0.0/8", "reserved"],
    ["169.254.0.0/16", "reserved"],
    ["192.0.0.0/24", "reserved"],
    ["192.0.2.0/24", "reserved"],
    ["192.88.99.0/24", "reserved"],
    ["198.51.100.0/24", "reserved"],
    ["203.0.113.0/24", "reserved"],
    ["224.0.0.0/3", "reserved"],
    ["0.0.0.0/0", "public"],

    ["::1/128", "loopback"],
    ["fc00::/7", "private"],
    ["2001::/23", "reserved"],
    ["2001:db8::/32", "reserved"],
    ["2002::/16", "reserved"],
    ["3fff::/20", "reserved"],
    ["2000::/3", "public"],
  ] as const
).map(([range, kind]) => {
  const [address = "", length] = range.split("/");
  const ignored = BigInt((address.includes(":") ? 128 : 32) - Number(length));
  return { kind, ignored, prefix: (bitsOf(address) ?? 0n) >> ignored };
});

/** The kind of an IP address. What is not an IP address is reserved. */
export function addressKind(address: string): AddressKind {
  const bits = bitsOf(address);
  if (bits === undefined) return "reserved";
  const unwrapped = bits >> 32n === nat64 ? (mapped << 32n) | (bits & 0xffff_ffffn) : bits;
  return ranges.find(({ ignored, prefix }) => unwrapped >> ignored === prefix)?.kind ?? "reserved";
}

/** The kind of the host of a URL, as far as it is known without a lookup: undefined for a name, but for those of this machine. */
export function hostKind(hostname: string): AddressKind | undefined {
  if (/(^|\.)localhost\.?$/.test(hostname)) return "loopback";
  const isAddress = hostname.startsWith("[") || /^\d+(\.\d+){3}$/.test(hostname);
  return isAddress ? addressKind(hostname.replace(/^\[|\]$/g, "")) : undefined;
}

/**
 * Whether a URL that an MCP server names may be requested: it must not lead deeper into the network of the client than the URL of that
 * server, which the user chose. Names are not looked up, so they may lead anywhere.
 */
export function mayLeadTo(server: URL, { hostname }: URL): boolean {
  const kind = hostKind(hostname) ?? "public";
  if (hostname === server.hostname) return true;
  const depths = ["public", "private", "loopback"];
  return kind !== "reserved" && depths.indexOf(kind) <= depths.indexOf(hostKind(server.hostname) ?? "public");
}

/** The 128 bits of an IP address, in any notation that URLs know; undefined for any other text. */
function bitsOf(address: string): bigint | undefined {
  const host = address.includes(":") ? `[${address}]` : address;
  if (!URL.canParse(`http://${host}`)) return undefined;
  const { hostname } = new URL(`http://${host}`);
  if (!hostname.startsWith("[")) {
    const bytes = hostname.split(".");
    if (!/^\d+(\.\d+){3}$/.test(hostname)) return undefined;
    return bytes.reduce((bits, byte) => (bits << 8n) | BigInt(byte), mapped);
  }
  const [before = "", after] = hostname.slice(1, -1).split("::");
  const left = before === "" ? [] : before.split(":");
  const right = after === undefined || after === "" ? [] : after.split(":");
  const groups = [...left, ...Array<string>(8 - left.length - right.length).fill("0"), ...right];
  return groups.reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n);
}
