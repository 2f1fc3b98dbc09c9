// How the time for one frame grows with its size: 1, 4, 16 and 64 MB arrive in chunks of 64 KB, go through the line
// decoder and JSON.parse. An exponent of 1 is linear; a decoder that joins its chunks again and again has 2.
// The floor does the same by hand: a list of the chunks, joined once.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { lines } from "@parlance/mcp/jsonrpc";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc");

const megabyte = 1024 * 1024;
const chunkBytes = 64 * 1024;
const sizes = [1, 4, 16, 64];
const rounds = 7;

const shapes = {
  "one string": (bytes) =>
    JSON.stringify({ jsonrpc: "2.0", id: 1, method: "echo", params: { text: "x".repeat(bytes) } }),
  records: (bytes) => {
    const record = { id: 1234567, name: "a record of ordinary size", tags: ["one", "two"], value: 12.5, active: true };
    const count = Math.ceil(bytes / (JSON.stringify(record).length + 1));
    return JSON.stringify({ jsonrpc: "2.0", id: 1, method: "echo", params: { records: Array(count).fill(record) } });
  },
};

const contestants = {
  floor(chunks) {
    const text = Buffer.concat(chunks).toString("utf8");
    return JSON.parse(text.slice(0, text.indexOf("\n")));
  },
  lines(chunks) {
    let message;
    const sink = {
      frame: (text) => {
        message = JSON.parse(text);
      },
      refuse: (refusal) => {
        throw new Error(refusal.message);
      },
    };
    const decoder = lines.decoder(sink, 128 * megabyte);
    for (const chunk of chunks) decoder.push(chunk);
    return message;
  },
};

/** Separate arrays, as a socket gives them. */
function cut(text) {
  const bytes = Buffer.from(`${text}\n`);
  const chunks = [];
  for (let at = 0; at < bytes.length; at += chunkBytes) chunks.push(Buffer.from(bytes.subarray(at, at + chunkBytes)));
  return chunks;
}

function median(values) {
  return values.toSorted((a, b) => a - b)[values.length >> 1];
}

/** Milliseconds of the second of two runs: the first pays for what the sample before it left behind. */
function time(run, chunks) {
  run(chunks);
  collectGarbage();
  const from = performance.now();
  if (run(chunks).id !== 1) throw new Error("the frame did not arrive");
  return performance.now() - from;
}

/** Median milliseconds per contestant and size; sizes and contestants take turns, so that all meet the same machine. */
function measure(shape) {
  const frames = sizes.map((size) => cut(shape(size * megabyte)));
  const names = Object.keys(contestants);
  const samples = Object.fromEntries(names.map((name) => [name, sizes.map(() => [])]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, chunks] of frames.entries()) {
      for (const name of names) samples[name][index].push(time(contestants[name], chunks));
    }
  }
  return Object.fromEntries(names.map((name) => [name, samples[name].map(median)]));
}

for (const [shapeName, shape] of Object.entries(shapes)) {
  console.log(`\none frame, ${shapeName}: ms for ${sizes.join(", ")} MB, and the exponent from 16 to 64 MB`);
  for (const [name, times] of Object.entries(measure(shape))) {
    const exponent = Math.log(times[3] / times[2]) / Math.log(sizes[3] / sizes[2]);
    console.log(`${name.padEnd(8)} ${times.map((ms) => ms.toFixed(1).padStart(8)).join("")}    ${exponent.toFixed(2)}`);
  }
}
