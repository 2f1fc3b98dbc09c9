// Imported first by every entry: what an older runtime has not, would else be missed deep inside, without a word of why.
if (!("toReversed" in Array.prototype)) {
  throw new Error(
    "@parlance/mcp needs Node.js 20.19 or newer, or another runtime with ES2023: this one has no Array.prototype.toReversed",
  );
}

export {};
