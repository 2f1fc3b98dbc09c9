/**
 * Test helpers: connected pairs with a leak check, a raw peer that sends any frame, and a fake clock.
 *
 * @module testing
 */
import "../base/runtime.js";

export { createFakeClock, type FakeClock } from "../testing/fake-clock.js";
export { assertNoLeaks, pair } from "../testing/pair.js";
export { type RawPeer, rawPeer } from "../testing/raw-peer.js";
