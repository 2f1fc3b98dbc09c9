// A module of its own: every test file loads it, and most need nothing else of the oracle.

/** Sent messages that violate a schema. A test that adds one fails. */
export const violations: string[] = [];
