import type { Entry, FrameEntry } from "@parlance/wire";
import type { HttpEntry } from "../../../packages/wire/src/recording/entry.js";
import type { HttpTarget } from "../../matrix/driver.js";

/** Makes requests, and records what crosses as a proxy would. */
export function recordedFetch(fetch: HttpTarget["fetch"], onEntry: (entry: Entry) => void): HttpTarget["fetch"] {
  let n = 0;
  let exchanges = 0;
  const place = (): { n: number; t: number; s: string } => {
    n += 1;
    return { n, t: n, s: "1" };
  };
  return async (url, init) => {
    exchanges += 1;
    const x = exchanges;
    const head = (ph: HttpEntry["ph"], more: Partial<HttpEntry> = {}): void =>
      onEntry({ k: "h", ...place(), x, ph, ...more });
    const frame = (d: FrameEntry["d"], ch: FrameEntry["ch"], raw: string, ev: FrameEntry["ev"] = {}): void =>
      onEntry({ k: "f", ...place(), d, ch, len: Buffer.byteLength(raw), nl: "", req: x, raw, ev });
    const { method = "GET", headers = {}, body } = init;
    head("req", { method, url: String(url), headers: [["host", new URL(url).host], ...new Headers(headers)] });
    if (typeof body === "string") frame("c2s", "http", body);
    const response = await fetch(url, init);
    head("res", { status: response.status, headers: [...response.headers] });
    if (response.body === null) {
      head("end");
      return response;
    }
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
    const decoder = new TextDecoder();
    let text = "";
    const watch = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        text += decoder.decode(chunk, { stream: true });
        for (let end = text.indexOf("\n\n"); isStream && end >= 0; end = text.indexOf("\n\n")) {
          const { data, ev } = eventOf(text.slice(0, end));
          text = text.slice(end + 2);
          if (data !== undefined) frame("s2c", "sse", data, ev);
        }
        controller.enqueue(chunk);
      },
      flush() {
        if (!isStream && text !== "") frame("s2c", "http", text);
        head("end");
      },
    });
    return new Response(response.body.pipeThrough(watch), response);
  };
}

/** One event of a stream, as our servers write it. */
function eventOf(block: string): { readonly data: string | undefined; readonly ev: NonNullable<FrameEntry["ev"]> } {
  const fields = block.split("\n").map((line): readonly [string, string] => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon), line.slice(colon + 1).trimStart()];
  });
  const data = fields.filter(([name]) => name === "data").map(([, value]) => value);
  const { id, event, retry } = Object.fromEntries(fields) as Readonly<Record<string, string | undefined>>;
  return {
    data: data.length === 0 ? undefined : data.join("\n"),
    ev: {
      ...(id !== undefined && { id }),
      ...(event !== undefined && { event }),
      ...(retry !== undefined && { retry: Number(retry) }),
    },
  };
}
