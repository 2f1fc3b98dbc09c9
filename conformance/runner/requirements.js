/**
 * A scenario of a frozen set. `unscored` says why it is run and reported without being required.
 *
 * @typedef {object} Scenario
 * @property {string} revision
 * @property {"server" | "client"} role what is looked at
 * @property {string} name
 * @property {string} [unscored]
 */

/**
 * The name of a scenario of a set, in the baseline and in reports.
 *
 * @param {Scenario} scenario
 */
export function keyOf({ revision, role, name }) {
  return `${revision} ${role} ${name}`;
}

/**
 * Reads what `conformance list --requirements` prints.
 *
 * @param {string} revision
 * @param {string} text
 * @returns {readonly Scenario[]}
 * @throws {Error} for a text that names no scenario of either role
 */
export function parseRequirements(revision, text) {
  /** @type {Scenario[]} */
  const scenarios = [];
  /** @type {Scenario["role"] | undefined} */
  let role;
  let unscored = "";
  for (const line of text.split("\n")) {
    const heading = /^(Server|Client) scenarios/.exec(line)?.[1];
    if (heading !== undefined) role = heading === "Server" ? "server" : "client";
    unscored = /^ {2}(\S+) \(\d+\):$/.exec(line)?.[1] ?? unscored;
    const required = /^ {2}- (\S+)$/.exec(line)?.[1];
    if (required !== undefined && role !== undefined) scenarios.push({ revision, role, name: required });
    const reported = /^ {4}- (\S+) \[(server|client)\]$/.exec(line);
    if (reported === null) continue;
    const [, name = "", leg] = reported;
    scenarios.push({ revision, role: leg === "server" ? "server" : "client", name, unscored });
  }
  for (const each of ["server", "client"]) {
    const isRequired = scenarios.some((scenario) => scenario.role === each && scenario.unscored === undefined);
    if (!isRequired) throw new Error(`The suite lists no required scenario of a ${each} for ${revision}:\n${text}`);
  }
  return scenarios;
}
