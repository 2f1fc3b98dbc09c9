/** The reversed polynomial of CRC-32 as gzip, PNG and Ethernet use it. */
const polynomial = 0xedb8_8320;

/** Bytes that are taken in one step. */
const step = 4;

/** What a byte does to the sum: in the first row at once, in the others when so many bytes have come behind it. */
const tables: Int32Array = tablesOf();

function tablesOf(): Int32Array {
  const rows = new Int32Array(256 * step);
  for (let at = 0; at < rows.length; at += 1) {
    let rest = at < 256 ? at : (rows[at - 256] ?? 0);
    for (let bit = 0; bit < 8; bit += 1) rest = rest & 1 ? (rest >>> 1) ^ polynomial : rest >>> 1;
    rows[at] = rest;
  }
  return rows;
}

/** The CRC-32 of bytes, in eight hexadecimal digits. */
export function crc32(bytes: Uint8Array): string {
  const end = bytes.length - (bytes.length % step);
  let crc = -1;
  let at = 0;
  for (; at < end; at += step) {
    crc ^= (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24);
    crc =
      (tables[768 | (crc & 0xff)] ?? 0) ^
      (tables[512 | ((crc >>> 8) & 0xff)] ?? 0) ^
      (tables[256 | ((crc >>> 16) & 0xff)] ?? 0) ^
      (tables[crc >>> 24] ?? 0);
  }
  for (; at < bytes.length; at += 1) crc = (tables[(crc ^ (bytes[at] ?? 0)) & 0xff] ?? 0) ^ (crc >>> 8);
  return (~crc >>> 0).toString(16).padStart(8, "0");
}
