/**
 * What a test of a peer needs: two connected ends with a leak check, a peer that writes anything, a clock to drive.
 *
 * @module
 */
import "../base/runtime.js";

export { assertAtRest } from "../testing/at-rest.js";
export { createFakeClock, type FakeClock } from "../testing/fake-clock.js";
export { type Pair, type PairOptions, pair } from "../testing/pair.js";
export { type RawPeer, rawPeer } from "../testing/raw-peer.js";
