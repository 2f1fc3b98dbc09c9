/** Lets everything that is on its way arrive, without time. */
export async function turn(microtasks = 24): Promise<void> {
  for (let each = 0; each < microtasks; each += 1) await Promise.resolve();
}
