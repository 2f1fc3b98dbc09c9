// A module of its own: every test file loads it, and most need nothing else of the oracle.

/** What was sent and does not fit. A test that has put something here fails. */
export const violations: string[] = [];
