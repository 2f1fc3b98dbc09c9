/** A PNG of one pixel. */
export const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** @type {{ readonly type: "image", readonly data: string, readonly mimeType: string }} */
export const image = { type: "image", data: png.toString("base64"), mimeType: "image/png" };

/** @type {{ readonly type: "audio", readonly data: string, readonly mimeType: string }} */
export const audio = { type: "audio", data: silence().toString("base64"), mimeType: "audio/wav" };

/** A WAV of one sample that says nothing: 8 bits, mono, 8 kHz. */
function silence() {
  const header = Buffer.alloc(44);
  header.write("RIFF", 0, "latin1");
  header.writeUInt32LE(38, 4); // All that follows.
  header.write("WAVEfmt ", 8, "latin1");
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20); // PCM
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(8000, 24);
  header.writeUInt32LE(8000, 28);
  header.writeUInt16LE(1, 32);
  header.writeUInt16LE(8, 34);
  header.write("data", 36, "latin1");
  header.writeUInt32LE(1, 40);
  return Buffer.concat([header, Buffer.from([0x80, 0])]); // A sample, and what makes the chunk even.
}
