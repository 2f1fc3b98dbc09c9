/** The reversed polynomial of CRC-32 as gzip, PNG and Ethernet use it. */
const polynomial = 0xedb8_8320;

const table: Uint32Array = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit += 1) rest = rest & 1 ? (rest >>> 1) ^ polynomial : rest >>> 1;
  return rest;
});

/** The CRC-32 of bytes, in eight hexadecimal digits. */
export function crc32(bytes: Uint8Array): string {
  let crc = 0xffff_ffff;
  for (const byte of bytes) crc = (table[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8);
  return ((crc ^ 0xffff_ffff) >>> 0).toString(16).padStart(8, "0");
}
