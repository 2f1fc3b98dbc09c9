// Imported first by every entry: in an older runtime, a missing feature would otherwise fail deep inside, without a clear
// message.
if (!("toReversed" in Array.prototype)) {
  throw new Error(
    "@parlance/mcp needs Node.js 20.19 or newer, or another runtime with ES2023: this one has no Array.prototype.toReversed",
  );
}

export {};
