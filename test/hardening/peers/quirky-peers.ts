// Servers with one deviation each, as data. Most were seen in the wild. Every one is connected to, listed and called once, by a
// client as it is by default and by a lenient one.

/** The outcome of a client: it is served, or it is refused at once with a message that holds these words. */
export type Outcome = "served" | { readonly refused: string };

interface Peer {
  /** The fault of the server, or its unusual but valid behaviour. */
  readonly quirk: string;
  /** Of a client with default options. Default: served. */
  readonly strict?: Outcome;
  /** Of a lenient client. Default: served. */
  readonly lenient?: Outcome;
}

/** The output of a process. `$id` stands for the id of the request that is answered. */
export interface StdioPeer extends Peer {
  /** Lines that answer a method; those that are not here are answered as they should be. */
  readonly answers?: Readonly<Record<string, readonly string[]>>;
  /** Lines before anything is asked. */
  readonly start?: readonly string[];
  /** Default: a line feed. */
  readonly newline?: string;
  readonly encoding?: "latin1";
  /** Bytes on stderr. */
  readonly stderr?: number;
  /** Ends after it has answered a method. */
  readonly exit?: { readonly on: string; readonly code: number };
}

/** How a request is answered over HTTP. Default: 200, as JSON. */
export interface HttpAnswer {
  readonly status?: number;
  /** Default: `application/json`; none for an empty one. */
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The body is bytes in Latin-1. */
  readonly latin1?: true;
  /** The body goes out in pieces of so many characters. */
  readonly pieces?: number;
  /** Goes out on the stream of the session instead. */
  readonly onStream?: true;
}

export interface HttpPeer extends Peer {
  /** Answers by method of the message, or by `GET` and `DELETE`. */
  readonly answers: Readonly<Record<string, HttpAnswer>>;
}

const info = '"serverInfo":{"name":"quirky","version":"1"}';
const capabilities = '"capabilities":{"tools":{}}';
const version = '"protocolVersion":"2025-06-18"';
const tool = '{"name":"t","inputSchema":{"type":"object"}}';
const content = '"content":[{"type":"text","text":"done"}]';

/** A response with that result. */
function response(result: string): string {
  return `{"jsonrpc":"2.0","id":$id,"result":${result}}`;
}

const opened = response(`{${version},${capabilities},${info}}`);
const listed = response(`{"tools":[${tool}]}`);
const called = response(`{${content}}`);

/** A server without a deviation. */
export const soundAnswers: Readonly<Record<string, string>> = {
  initialize: opened,
  "tools/list": listed,
  "tools/call": called,
  ping: response("{}"),
};

const opening = (result: string): Pick<StdioPeer, "answers"> => ({ answers: { initialize: [response(result)] } });
const listing = (...lines: readonly string[]): Pick<StdioPeer, "answers"> => ({ answers: { "tools/list": lines } });
const calling = (...lines: readonly string[]): Pick<StdioPeer, "answers"> => ({ answers: { "tools/call": lines } });

const noResponse = (reason: string): Outcome => ({ refused: `the answer is not a response: ${reason}` });
const invalid = (reason: string): Outcome => ({ refused: reason });

const pretty = ["{", '  "jsonrpc": "2.0",', '  "id": $id,', `  "result": {${content}}`, "}"];
const progress = '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"none","progress":1}}';
const changed = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';
const log = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"hello"}}';

export const stdioPeers: readonly StdioPeer[] = [
  // Output on stdout other than messages.
  { quirk: "a banner before anything", start: ["quirky 1.0", "listening on stdio", ""] },
  { quirk: "a banner with colours", start: ["\u001b[32mready\u001b[0m"] },
  { quirk: "a log line that is JSON", start: ['{"level":"info","msg":"ready"}'] },
  { quirk: "a log line that is an array", start: ["[info] ready"] },
  { quirk: "a log line between answers", ...listing("debug: listing", listed) },
  { quirk: "a log line that repeats the answer", ...calling(`DEBUG ${called}`, called) },
  { quirk: "empty lines around every message", ...calling("", "   ", called, "") },
  { quirk: "carriage returns", newline: "\r\n" },
  { quirk: "a byte order mark", start: ["\ufeff"] },
  { quirk: "65,536 bytes on stderr before anything", stderr: 65_536 },
  {
    quirk: "an answer in colours",
    ...calling(`\u001b[36m${called}\u001b[0m`),
    strict: noResponse("a frame must hold a message and nothing else"),
  },
  {
    quirk: "a NUL behind an answer",
    ...calling(`${called}\u0000`),
    strict: noResponse("a frame must hold a message and nothing else"),
  },
  {
    quirk: "a byte order mark before every answer",
    ...calling(`\ufeff${called}`),
    strict: noResponse("a frame must hold a message and nothing else"),
  },
  { quirk: "an answer that is printed prettily", ...calling(...pretty), strict: noResponse("it is not one frame") },
  {
    quirk: "a list that is printed prettily",
    ...listing("{", '"jsonrpc":"2.0",', '"id":$id,', `"result":{"tools":[${tool}]}`, "}"),
    strict: noResponse("it is not one frame"),
  },
  {
    quirk: "Latin-1 in an answer",
    encoding: "latin1",
    ...calling(response('{"content":[{"type":"text","text":"caf\u00e9"}]}')),
    strict: { refused: "not UTF-8" },
  },
  { quirk: "Latin-1 in a banner", encoding: "latin1", start: ["d\u00e9marrage"] },
  {
    quirk: "text behind an answer",
    ...calling(`${called} // done`),
    strict: noResponse("a frame must hold a message and nothing else"),
  },
  // Responses.
  {
    quirk: "no jsonrpc",
    ...calling(`{"id":$id,"result":{${content}}}`),
    strict: { refused: 'jsonrpc must be "2.0", it is missing' },
  },
  {
    quirk: "jsonrpc as a number",
    ...calling(`{"jsonrpc":2.0,"id":$id,"result":{${content}}}`),
    strict: { refused: 'jsonrpc must be "2.0", got 2' },
  },
  {
    quirk: "jsonrpc 1.0",
    ...calling(`{"jsonrpc":"1.0","id":$id,"result":{${content}}}`),
    strict: { refused: 'jsonrpc must be "2.0", got "1.0"' },
  },
  {
    quirk: "a result with error null",
    ...calling(`{"jsonrpc":"2.0","id":$id,"result":{${content}},"error":null}`),
    strict: { refused: "a response must not have both result and error" },
  },
  {
    quirk: "a list with error null",
    ...listing(`{"jsonrpc":"2.0","id":$id,"error":null,"result":{"tools":[${tool}]}}`),
    strict: { refused: "a response must not have both result and error" },
  },
  {
    quirk: "the id as a string",
    ...calling(`{"jsonrpc":"2.0","id":"$id","result":{${content}}}`),
    strict: noResponse("id must be that of the request, got"),
  },
  {
    quirk: "the id of initialize as a string",
    answers: { initialize: [opened.replace("$id", '"$id"')] },
    strict: noResponse("id must be that of the request, got"),
  },
  { quirk: "the id as 2.0", ...calling(called.replace("$id", "$id.0")) },
  {
    quirk: "no id in a result",
    ...calling(`{"jsonrpc":"2.0","result":{${content}}}`),
    strict: noResponse("id must be that of the request, got nothing"),
  },
  {
    quirk: "id null in a result",
    ...calling(`{"jsonrpc":"2.0","id":null,"result":{${content}}}`),
    strict: noResponse("id must be that of the request, got null"),
  },
  {
    quirk: "method null in a result",
    ...calling(`{"jsonrpc":"2.0","id":$id,"method":null,"result":{${content}}}`),
    strict: noResponse("a response must have no method"),
  },
  {
    quirk: "an answer in an array",
    ...calling(`[${called}]`),
    strict: noResponse("a response must not be in an array"),
  },
  {
    quirk: "members that do not exist",
    ...calling(`{"jsonrpc":"2.0","id":$id,"time":3,"result":{${content},"cost":5},"meta":{}}`),
  },
  { quirk: "an answer twice", ...calling(called, called) },
  { quirk: "a response without a request", ...listing('{"jsonrpc":"2.0","id":99,"result":{}}', listed) },
  {
    quirk: "an error without an id that is about nothing",
    ...listing('{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"what?"}}', listed),
  },
  {
    quirk: "neither result nor error",
    ...calling('{"jsonrpc":"2.0","id":$id}'),
    strict: { refused: "a message must have a method, a result or an error" },
    lenient: { refused: "the result is not an object" },
  },
  {
    quirk: "an error that is a text",
    ...calling('{"jsonrpc":"2.0","id":$id,"error":"disk full"}'),
    strict: { refused: "error must be an object, got a string" },
    lenient: { refused: "disk full" },
  },
  {
    quirk: "an error with a text for a code",
    ...calling('{"jsonrpc":"2.0","id":$id,"error":{"code":"-32000","message":"disk full"}}'),
    strict: { refused: "code must be an integer" },
    lenient: { refused: "disk full" },
  },
  // initialize.
  {
    quirk: "no capabilities",
    ...opening(`{${version},${info}}`),
    strict: { refused: "the server has not advertised the capability tools" },
  },
  {
    quirk: "capabilities {}",
    ...opening(`{${version},"capabilities":{},${info}}`),
    strict: { refused: "the server has not advertised the capability tools" },
  },
  {
    quirk: "capabilities null",
    ...opening(`{${version},"capabilities":null,${info}}`),
    strict: { refused: "the server has not advertised the capability tools" },
  },
  {
    quirk: "capabilities as an array",
    ...opening(`{${version},"capabilities":["tools"],${info}}`),
    strict: { refused: "the server has not advertised the capability tools" },
  },
  { quirk: "a capability that is true", ...opening(`{${version},"capabilities":{"tools":true},${info}}`) },
  { quirk: "no serverInfo", ...opening(`{${version},${capabilities}}`) },
  { quirk: "serverInfo without a version", ...opening(`{${version},${capabilities},"serverInfo":{"name":"q"}}`) },
  { quirk: "serverInfo null", ...opening(`{${version},${capabilities},"serverInfo":null}`) },
  { quirk: "instructions null", ...opening(`{${version},${capabilities},${info},"instructions":null}`) },
  {
    quirk: "no protocolVersion",
    ...opening(`{${capabilities},${info}}`),
    strict: { refused: "initialize: the server speaks nothing" },
  },
  {
    quirk: "a number for protocolVersion",
    ...opening(`{"protocolVersion":1,${capabilities},${info}}`),
    strict: { refused: "initialize: the server speaks a number" },
  },
  {
    quirk: "protocolVersion 2024-10-07",
    ...opening(`{"protocolVersion":"2024-10-07",${capabilities},${info}}`),
    strict: { refused: 'the server speaks "2024-10-07"' },
  },
  {
    quirk: "protocolVersion 0.1.0",
    ...opening(`{"protocolVersion":"0.1.0",${capabilities},${info}}`),
    strict: { refused: 'the server speaks "0.1.0"' },
  },
  {
    quirk: "a protocolVersion of the future",
    ...opening(`{"protocolVersion":"2099-01-01",${capabilities},${info}}`),
    strict: { refused: 'the server speaks "2099-01-01"' },
  },
  {
    quirk: "protocolVersion DRAFT-2025-v1",
    ...opening(`{"protocolVersion":"DRAFT-2025-v1",${capabilities},${info}}`),
    strict: { refused: 'the server speaks "DRAFT-2025-v1"' },
  },
  { quirk: "notifications before its answer to initialize", answers: { initialize: [log, changed, opened] } },
  {
    quirk: "requests before it is initialized",
    answers: {
      initialize: [
        '{"jsonrpc":"2.0","id":"r","method":"roots/list"}',
        '{"jsonrpc":"2.0","id":7,"method":"ping"}',
        opened,
      ],
    },
  },
  {
    quirk: "an answer to notifications/initialized",
    answers: { "notifications/initialized": ['{"jsonrpc":"2.0","id":null,"result":{}}'] },
  },
  {
    quirk: "an error about notifications/initialized",
    answers: {
      "notifications/initialized": ['{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"Method not found"}}'],
    },
  },
  {
    quirk: "no initialize",
    answers: { initialize: ['{"jsonrpc":"2.0","id":$id,"error":{"code":-32601,"message":"Method not found"}}'] },
    strict: { refused: "Method not found" },
    lenient: { refused: "Method not found" },
  },
  // Lists.
  { quirk: "tools null", ...listing(response('{"tools":null}')) },
  { quirk: "no tools", ...listing(response("{}")) },
  { quirk: "a tool without inputSchema", ...listing(response('{"tools":[{"name":"t"}]}')) },
  { quirk: "a tool with inputSchema null", ...listing(response('{"tools":[{"name":"t","inputSchema":null}]}')) },
  {
    quirk: "an inputSchema without a type",
    ...listing(response('{"tools":[{"name":"t","inputSchema":{"properties":{}}}]}')),
  },
  { quirk: "an inputSchema {}", ...listing(response('{"tools":[{"name":"t","inputSchema":{}}]}')) },
  { quirk: "null among tools", ...listing(response(`{"tools":[null,${tool}]}`)) },
  { quirk: "a tool without a name", ...listing(response(`{"tools":[{"inputSchema":{}},${tool}]}`)) },
  {
    quirk: "outputSchema null",
    ...listing(response('{"tools":[{"name":"t","inputSchema":{"type":"object"},"outputSchema":null}]}')),
  },
  {
    quirk: "an outputSchema in a dialect of its own",
    ...listing(
      response('{"tools":[{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"$schema":"urn:mine"}}]}'),
    ),
  },
  {
    quirk: "description null",
    ...listing(response('{"tools":[{"name":"t","description":null,"inputSchema":{"type":"object"}}]}')),
  },
  { quirk: "a tool twice", ...listing(response(`{"tools":[${tool},${tool}]}`)) },
  { quirk: "nextCursor null", ...listing(response(`{"tools":[${tool}],"nextCursor":null}`)) },
  { quirk: 'nextCursor ""', ...listing(response(`{"tools":[${tool}],"nextCursor":""}`)) },
  { quirk: "the same cursor for ever", ...listing(response(`{"tools":[${tool}],"nextCursor":"more"}`)) },
  { quirk: "nextCursor as a number", ...listing(response(`{"tools":[${tool}],"nextCursor":2}`)) },
  {
    quirk: "a bare array of tools",
    ...listing(response(`[${tool}]`)),
    strict: { refused: "tools/list: the result is not an object" },
    lenient: { refused: "tools/list: the result is not an object" },
  },
  {
    quirk: "tools as an object",
    ...listing(response(`{"tools":{"t":${tool}}}`)),
    strict: { refused: "tools must be an array, got an object" },
    lenient: { refused: "tools must be an array, got an object" },
  },
  // Results.
  { quirk: "no content", ...calling(response("{}")), strict: invalid("content must be an array, got nothing") },
  {
    quirk: "content null",
    ...calling(response('{"content":null}')),
    strict: invalid("content must be an array, got null"),
  },
  {
    quirk: "content as a string",
    ...calling(response('{"content":"done"}')),
    strict: invalid("content must be an array, got a string"),
  },
  {
    quirk: "content as an object",
    ...calling(response('{"content":{"type":"text","text":"done"}}')),
    strict: invalid("content must be an array, got an object"),
  },
  {
    quirk: "structuredContent without content",
    ...calling(response('{"structuredContent":{"a":1}}')),
    strict: invalid("content must be an array, got nothing"),
  },
  { quirk: 'isError "true"', ...calling(response(`{${content},"isError":"true"}`)) },
  { quirk: "isError null", ...calling(response(`{${content},"isError":null}`)) },
  {
    quirk: "a type of content that does not exist",
    ...calling(response('{"content":[{"type":"html","html":"<p>"}]}')),
  },
  { quirk: "_meta null", ...calling(response(`{${content},"_meta":null}`)) },
  {
    quirk: "a result that is null",
    ...calling(response("null")),
    strict: { refused: "tools/call: the result is not an object" },
    lenient: { refused: "tools/call: the result is not an object" },
  },
  {
    quirk: "a result that is a text",
    ...calling(response('"done"')),
    strict: { refused: "tools/call: the result is not an object" },
    lenient: { refused: "tools/call: the result is not an object" },
  },
  // Traffic.
  { quirk: "progress that was not requested", ...calling(progress, called) },
  { quirk: "a storm of changes", ...calling(...Array<string>(500).fill(changed), called) },
  {
    quirk: "a notification that does not exist",
    ...calling('{"jsonrpc":"2.0","method":"notifications/mine"}', called),
  },
  {
    quirk: "a notification with params null",
    ...calling('{"jsonrpc":"2.0","method":"notifications/message","params":null}', called),
  },
  { quirk: "an answer, and exit code 1", ...calling(called), exit: { on: "tools/call", code: 1 } },
  {
    quirk: "an exit instead of an answer",
    ...calling(),
    exit: { on: "tools/call", code: 3 },
    strict: { refused: "exited with code 3" },
    lenient: { refused: "exited with code 3" },
  },
];

const sse = "text/event-stream";
const event = (data: string): string => `event: message\ndata: ${data}\n\n`;
const call = (answer: HttpAnswer): Pick<HttpPeer, "answers"> => ({ answers: { "tools/call": answer } });
const open = (answer: HttpAnswer): Pick<HttpPeer, "answers"> => ({ answers: { initialize: answer } });
const told = (answer: HttpAnswer): Pick<HttpPeer, "answers"> => ({ answers: { "notifications/initialized": answer } });
const noSession = { status: 404, type: "text/plain", body: "not found" };

/** The headers of a server with sessions. */
export const sessionHeaders: Readonly<Record<string, string>> = { "mcp-session-id": "s1" };

export const httpPeers: readonly HttpPeer[] = [
  // Media types and encodings.
  { quirk: "a charset", ...call({ type: "application/json; charset=utf-8", body: called }) },
  { quirk: "a media type in capitals", ...call({ type: "Application/JSON", body: called }) },
  {
    quirk: "JSON as text/plain",
    ...call({ type: "text/plain", body: called }),
    strict: { refused: 'Content-Type "text/plain"' },
  },
  {
    quirk: "JSON as text/html",
    ...call({ type: "text/html", body: called }),
    strict: { refused: 'Content-Type "text/html"' },
  },
  { quirk: "JSON without a media type", ...call({ type: "", body: called }), strict: { refused: "no Content-Type" } },
  {
    quirk: "JSON of a vendor's type",
    ...call({ type: "application/vnd.api+json", body: called }),
    strict: { refused: 'Content-Type "application/vnd.api+json"' },
  },
  {
    quirk: "events as text/plain",
    ...call({ type: "text/plain", body: event(called) }),
    strict: { refused: 'Content-Type "text/plain"' },
  },
  {
    quirk: "Latin-1 in JSON",
    ...call({ latin1: true, body: response('{"content":[{"type":"text","text":"caf\u00e9"}]}') }),
    strict: { refused: "a response that is not UTF-8" },
  },
  {
    quirk: "Latin-1 in an event",
    ...call({ latin1: true, type: sse, body: event(response('{"content":[{"type":"text","text":"caf\u00e9"}]}')) }),
    strict: { refused: "an event stream that is not UTF-8" },
  },
  { quirk: "a byte order mark before JSON", ...call({ body: `\ufeff${called}` }) },
  {
    quirk: "JSON that is printed prettily",
    ...call({
      body: JSON.stringify(JSON.parse(called.replace("$id", "3")), undefined, 2).replace('"id": 3', '"id": $id'),
    }),
  },
  { quirk: "line feeds around JSON", ...call({ body: `\n\n${called}\n` }) },
  { quirk: "JSON in pieces of seven bytes", ...call({ body: called, pieces: 7 }) },
  // Events.
  { quirk: "events with CRLF", ...call({ type: sse, body: event(called).replaceAll("\n", "\r\n") }) },
  { quirk: "events with CR", ...call({ type: sse, body: event(called).replaceAll("\n", "\r") }) },
  { quirk: "comments before an event", ...call({ type: sse, body: `: ping\n\n: ping\n\n${event(called)}` }) },
  { quirk: "an event without a type", ...call({ type: sse, body: `data: ${called}\n\n` }) },
  {
    quirk: "an event of a type of its own",
    ...call({ type: sse, body: `event: response\ndata: ${called}\n\n` }),
    strict: { refused: "the HTTP response ended without a JSON-RPC response" },
  },
  { quirk: "data without a space", ...call({ type: sse, body: `data:${called}\n\n` }) },
  {
    quirk: "data over two lines",
    ...call({ type: sse, body: `data: {"jsonrpc":"2.0",\ndata: "id":$id,"result":{${content}}}\n\n` }),
  },
  { quirk: "an event with an id and a retry", ...call({ type: sse, body: `id: 1\nretry: 1000\n${event(called)}` }) },
  {
    quirk: "no empty line behind the last event",
    ...call({ type: sse, body: `data: ${called}\n` }),
    strict: { refused: "the HTTP response ended without a JSON-RPC response" },
  },
  {
    quirk: "nothing behind the last event",
    ...call({ type: sse, body: `data: ${called}` }),
    strict: { refused: "the HTTP response ended without a JSON-RPC response" },
  },
  { quirk: "an event stream in pieces of three bytes", ...call({ type: sse, body: event(called), pieces: 3 }) },
  { quirk: "an empty event first", ...call({ type: sse, body: `data:\n\n${event(called)}` }) },
  { quirk: "fields that do not exist", ...call({ type: sse, body: `colour: red\n${event(called)}` }) },
  {
    quirk: "notifications before the answer",
    ...call({ type: sse, body: event(log) + event(progress) + event(called) }),
  },
  {
    quirk: "a ping before the answer",
    ...call({ type: sse, body: event('{"jsonrpc":"2.0","id":"p","method":"ping"}') + event(called) }),
  },
  { quirk: "[DONE] behind the answer", ...call({ type: sse, body: `${event(called)}data: [DONE]\n\n` }) },
  { quirk: "the answer twice", ...call({ type: sse, body: event(called) + event(called) }) },
  // Bodies.
  {
    quirk: "an answer in an array",
    ...call({ body: `[${called}]` }),
    strict: noResponse("a response must not be in an array"),
  },
  {
    quirk: "an array among the events",
    ...call({ type: sse, body: event(`[${called}]`) }),
    strict: noResponse("a response must not be in an array"),
  },
  {
    quirk: "the id as a string",
    ...call({ body: called.replace("$id", '"$id"') }),
    strict: noResponse("id must be that of the request, got"),
  },
  {
    quirk: "no jsonrpc",
    ...call({ body: `{"id":$id,"result":{${content}}}` }),
    strict: { refused: 'jsonrpc must be "2.0", it is missing' },
  },
  {
    quirk: "a result with error null",
    ...call({ body: `{"jsonrpc":"2.0","id":$id,"result":{${content}},"error":null}` }),
    strict: { refused: "a response must not have both result and error" },
  },
  {
    quirk: "an empty body",
    ...call({ body: "" }),
    strict: { refused: "the HTTP response ended without a JSON-RPC response" },
    lenient: { refused: "the HTTP response ended without a JSON-RPC response" },
  },
  {
    quirk: "a body that breaks off",
    ...call({ body: called.slice(0, 20) }),
    strict: { refused: "the HTTP response ended without a JSON-RPC response" },
    lenient: { refused: "the HTTP response ended without a JSON-RPC response" },
  },
  {
    quirk: "an event stream without an answer",
    ...call({ type: sse, body: ": bye\n\n" }),
    strict: { refused: "the HTTP response ended without a JSON-RPC response" },
    lenient: { refused: "the HTTP response ended without a JSON-RPC response" },
  },
  {
    quirk: "204 for a request",
    ...call({ status: 204, type: "" }),
    strict: { refused: "a response with status 204 and no Content-Type" },
    lenient: { refused: "a response with status 204 and no Content-Type" },
  },
  {
    quirk: "202, and the answer on the stream of the session",
    ...call({ status: 202, type: "", body: called, onStream: true }),
    strict: { refused: "a response with status 202 and no Content-Type" },
  },
  { quirk: "201 with the answer", ...call({ status: 201, body: called }) },
  { quirk: "no content", ...call({ body: response("{}") }), strict: invalid("content must be an array, got nothing") },
  {
    quirk: "a page of a proxy",
    ...call({ status: 502, type: "text/html", body: "<h1>Bad Gateway</h1>" }),
    strict: { refused: "502" },
    lenient: { refused: "502" },
  },
  {
    quirk: "an error with status 500",
    ...call({ status: 500, body: '{"jsonrpc":"2.0","id":$id,"error":{"code":-32603,"message":"disk full"}}' }),
    strict: { refused: "disk full" },
    lenient: { refused: "disk full" },
  },
  // Opening.
  { quirk: "404 for what is unknown", answers: { "server/discover": noSession } },
  { quirk: "405 for what is unknown", answers: { "server/discover": { ...noSession, status: 405 } } },
  { quirk: "406 for what is unknown", answers: { "server/discover": { ...noSession, status: 406 } } },
  { quirk: "422 for what is unknown", answers: { "server/discover": { ...noSession, status: 422 } } },
  { quirk: "a page for what is unknown", answers: { "server/discover": { type: "text/html", body: "<html>" } } },
  { quirk: "an empty answer to what is unknown", answers: { "server/discover": { type: "", body: "" } } },
  { quirk: "202 for what is unknown", answers: { "server/discover": { status: 202, type: "" } } },
  {
    quirk: "the answer to initialize as an event",
    ...open({ type: sse, body: event(opened), headers: sessionHeaders }),
  },
  { quirk: "no session", ...open({ body: opened }) },
  { quirk: "a session id with odd characters", ...open({ body: opened, headers: { "mcp-session-id": "a/b+c=!~" } }) },
  {
    quirk: "a session id with a space",
    ...open({ body: opened, headers: { "mcp-session-id": "a b" } }),
    strict: { refused: "the id of the session is not" },
  },
  { quirk: "the header of the session in capitals", ...open({ body: opened, headers: { "MCP-SESSION-ID": "s1" } }) },
  {
    quirk: "capabilities {}",
    ...open({ body: response(`{${version},"capabilities":{},${info}}`) }),
    strict: { refused: "the server has not advertised the capability tools" },
  },
  {
    quirk: "protocolVersion 2024-10-07",
    ...open({ body: response(`{"protocolVersion":"2024-10-07",${capabilities},${info}}`) }),
    strict: { refused: 'the server speaks "2024-10-07"' },
  },
  { quirk: "200 for a notification", ...told({ type: "", body: "" }) },
  { quirk: "200 with a body for a notification", ...told({ body: '{"ok":true}' }) },
  { quirk: "204 for a notification", ...told({ status: 204, type: "" }) },
  { quirk: "a result for a notification", ...told({ body: '{"jsonrpc":"2.0","id":null,"result":{}}' }) },
  { quirk: "500 for a notification", ...told({ status: 500, type: "", body: "" }) },
  { quirk: "404 for GET", answers: { GET: noSession } },
  { quirk: "400 for GET", answers: { GET: { ...noSession, status: 400 } } },
  { quirk: "500 for GET", answers: { GET: { ...noSession, status: 500 } } },
  { quirk: "a page for GET", answers: { GET: { type: "text/html", body: "<html>" } } },
  { quirk: "404 for DELETE", answers: { DELETE: noSession } },
  { quirk: "500 for DELETE", answers: { DELETE: { ...noSession, status: 500 } } },
  {
    quirk: "a redirect to another path",
    answers: { initialize: { status: 307, type: "", headers: { location: "/other" }, body: "" } },
  },
  {
    quirk: "a redirect to elsewhere",
    answers: { initialize: { status: 308, type: "", headers: { location: "https://example.com/mcp" }, body: "" } },
    strict: { refused: "redirects with 308 to" },
    lenient: { refused: "redirects with 308 to" },
  },
];
