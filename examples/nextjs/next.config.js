import { join } from "node:path";

// The library is linked from the root of this repository. An application that installs it needs no such line.
export default { turbopack: { root: join(import.meta.dirname, "../..") } };
