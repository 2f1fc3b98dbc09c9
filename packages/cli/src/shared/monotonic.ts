/** The milliseconds of a monotonic clock that all threads of a process share. */
export function monotonic(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1_000_000;
}

/** A time in milliseconds as recordings and JSON have it: rounded to microseconds. */
export function milliseconds(time: number): number {
  return Math.round(time * 1_000) / 1_000;
}
