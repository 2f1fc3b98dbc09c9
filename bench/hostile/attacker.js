/** `node attacker.js <http port> <tcp port> <attack>…`: carries out attacks until it is killed. */

import { setPriority } from "node:os";
import { attacks } from "./attacks.js";

const [http, tcp, ...names] = process.argv.slice(2);
// The victim is measured beside this process: what it waits for must be the server.
setPriority(19);
for (const name of names) attacks[name]?.run({ http: Number(http), tcp: Number(tcp) });
