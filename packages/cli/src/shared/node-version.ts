/** Imported first: other modules fail on an old Node without a clear message. */
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`parlance needs Node.js 20.19 or newer, and this is ${process.version}\n`);
  process.exit(1);
}

export {};
