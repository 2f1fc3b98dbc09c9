import { headerOf, literalOf, type RecordedOperation, type Row, type WireMessage } from "@parlance/wire";
import { packageVersion } from "../../shared/package-version.js";
import { chosenOperations, type Exported, jsonWithList, momentOf, textOf, urlOf } from "./exported.js";

type Frame = WireMessage["frame"];
type HttpExchange = NonNullable<Row["exchange"]>;

const mapping = "converted: this conversation used stdio, not HTTP; each request with its response is one exchange";

/** HAR 1.2: HTTP exchanges as recorded; on other transports, each request with its response as one exchange. */
export function* toHar(exported: Exported): Generator<string> {
  const exchanges = exchangesOf(exported);
  const creator = { name: "parlance", version: packageVersion };
  yield* jsonWithList({ log: { version: "1.2", creator, entries: [] } }, function* () {
    if (exchanges.length > 0) for (const exchange of exchanges) yield httpEntry(exchange, exported);
    else
      for (const operation of chosenOperations(exported)) {
        yield mappedEntry(operation, exported);
      }
  });
}

function exchangesOf({ rows }: Exported): readonly HttpExchange[] {
  return [...new Set(rows.flatMap(({ exchange }) => (exchange === undefined ? [] : [exchange])))];
}

function httpEntry(exchange: HttpExchange, { header }: Exported): object {
  const { request, response, end, frames } = exchange;
  const [asked, answered] = (["client", "server"] as const).map((side) => frames.filter(({ from }) => from === side));
  const text = (side: typeof asked = []): string => {
    const isStream = side.some(({ entry }) => entry.ch === "sse");
    return isStream ? side.map(eventText).join("") : side.map(bodyText).join("\n");
  };
  const size = (side: typeof asked): number => (side ?? []).reduce((sum, { entry }) => sum + entry.len, 0);
  const responseAt = response?.t ?? end?.t ?? request.t;
  const wait = responseAt - request.t;
  const receive = (end?.t ?? responseAt) - responseAt;
  const mimeType = (response && headerOf(response, "content-type")) ?? "";
  return {
    startedDateTime: momentOf(header, request.t).toISOString(),
    time: wait + receive,
    request: {
      method: request.method ?? "",
      url: urlOf(exchange, header),
      httpVersion: "HTTP/1.1",
      cookies: [],
      headers: pairs(request.headers),
      queryString: [],
      ...(size(asked) > 0 && {
        postData: { mimeType: headerOf(request, "content-type") ?? "", text: text(asked) },
      }),
      headersSize: -1,
      bodySize: size(asked),
    },
    response: {
      status: response?.status ?? 0,
      statusText: "",
      httpVersion: "HTTP/1.1",
      cookies: [],
      headers: pairs(response?.headers),
      content: { size: size(answered), mimeType, text: text(answered) },
      redirectURL: (response && headerOf(response, "location")) ?? "",
      headersSize: -1,
      bodySize: size(answered),
    },
    cache: {},
    timings: { send: 0, wait, receive },
  };
}

function bodyText({ bytes }: Frame): string {
  return literalOf({ start: 0, end: bytes.length }, bytes);
}

/** An event as text of a stream. A recording keeps its fields, but neither their order nor comments. */
function eventText(frame: Frame): string {
  const { id, event, retry } = frame.entry.ev ?? {};
  const fields: readonly (readonly [name: string, value: string | number | undefined])[] = [
    ["event", event],
    ["id", id],
    ["retry", retry],
    ...bodyText(frame)
      .split("\n")
      .map((line) => ["data", line] as const),
  ];
  const lines = fields.flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}\n`]));
  return `${lines.join("")}\n`;
}

function pairs(headers: readonly (readonly [name: string, value: string])[] = []): readonly object[] {
  return headers.map(([name, value]) => ({ name, value }));
}

function mappedEntry({ request, answer }: RecordedOperation, { header }: Exported): object {
  const { entry } = request.frame;
  const [asked, answered] = [textOf(request), answer === undefined ? "" : textOf(answer)];
  const wait = (answer?.frame.entry.t1 ?? answer?.frame.entry.t ?? entry.t) - entry.t;
  const mimeType = "application/json";
  const shared = { httpVersion: "none", cookies: [], headers: [], headersSize: -1 };
  return {
    startedDateTime: momentOf(header, entry.t).toISOString(),
    time: wait,
    comment: mapping,
    request: {
      ...shared,
      method: "POST",
      url: `stdio://${request.from === "client" ? "server" : "client"}/${encodeURI(request.method ?? "")}`,
      queryString: [],
      postData: { mimeType, text: asked },
      bodySize: Buffer.byteLength(asked),
    },
    response: {
      ...shared,
      status: answer === undefined ? 0 : 200,
      statusText: answer === undefined ? "no answer" : "",
      content: { size: Buffer.byteLength(answered), mimeType, text: answered },
      redirectURL: "",
      bodySize: Buffer.byteLength(answered),
    },
    cache: {},
    timings: { send: 0, wait, receive: 0 },
  };
}
