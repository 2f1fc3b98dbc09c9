/** How a program is changed so that it does not break a rule again. */
export interface Mend {
  /** In one sentence: the change in the code. */
  readonly says: string;
  /** The code as it has to be, in JavaScript. */
  readonly code?: string;
}

const ownSchema: Mend = {
  says: "Compare the message with an example of its method, which parlance explain has",
  code: "parlance explain tools/call",
};

const oneText: Mend = { says: "Write the body with one call of JSON.stringify", code: "body: JSON.stringify(message)" };

function listChanged(list: string): Mend {
  return {
    says: `Send notifications/${list}/list_changed after each change of the list`,
    code: `send({ jsonrpc: '2.0', method: 'notifications/${list}/list_changed' });`,
  };
}

const unchangedId: Mend = {
  says: "Take the id from the request as it was parsed; any string and any number is one, also 0",
  code: "if (message.id !== undefined) send({ jsonrpc: '2.0', id: message.id, result });",
};
const everyPage: Mend = {
  says: "Answer with the array of the list, empty if there is nothing, and leave nextCursor out of the last page",
  code: "send({ jsonrpc: '2.0', id, result: { tools } });",
};
const refuse: Mend = {
  says: "Look the name up first, and answer an unknown one with an error",
  code: "send({ jsonrpc: '2.0', id, error: { code: -32602, message: 'Unknown tool: ' + name } });",
};
const verify: Mend = {
  says: "Verify signature, issuer, audience and expiry of the token of every request, and answer 401 if one of them is wrong",
};
const metadata: Mend = {
  says: "Serve the metadata at /.well-known/oauth-protected-resource and the path of the server; for keys in a header of their own, answer 401 with a scheme such as ApiKey; for keys as Bearer, leave this out by --except XA-2",
  code: '{ "resource": "https://mcp.example.com/mcp", "authorization_servers": ["https://login.example.com"] }',
};

const noResponse: Mend = {
  says: "Send nothing when a message has no id: it is a notification",
  code: "if (message.id === undefined) return;",
};
const accepted: Mend = { says: "Respond to a notification or a response with 202 and no body" };
const ownResource: Mend = {
  says: "Set the resource of the metadata to the public URL of the server, as clients write it",
};
const missingScopes: Mend = {
  says: "Name the missing scopes in the challenge",
  code: 'Bearer error="insufficient_scope", scope="files:read"',
};

/** By the ids of the rules and probes: the changes that are known, whatever the server or the client does. */
export const mends: Readonly<Record<string, Mend>> = {
  "XL-1": { says: "Answer ping with an empty result", code: "send({ jsonrpc: '2.0', id, result: {} });" },
  "XL-2": { says: "Refuse a request whose _meta has no io.modelcontextprotocol/protocolVersion with −32602" },
  "XL-3": {
    says: "Refuse a version that the server does not know with −32022, and list those that it knows",
    code: "error: { code: -32022, message: 'Unsupported protocol version', data: { supported, requested } }",
  },
  "XL-4": { says: "Refuse ping with −32601 in this revision, or do not list the revision in supportedVersions" },
  "XL-5": {
    says: "Put the server info into _meta of every result",
    code: "result: { ...result, _meta: { 'io.modelcontextprotocol/serverInfo': { name, version } } }",
  },
  "XM-1": {
    says: "End the list of methods with an error for all others",
    code: "else send({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } });",
  },
  "XM-2": unchangedId,
  "XM-3": unchangedId,
  "XM-4": noResponse,
  "XM-5": {
    says: "Catch what a line throws, where it is read and in each handler, and read the next one",
    code: "try { message = JSON.parse(line); } catch { return send({ jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Parse error' } }); }",
  },
  "XM-6": {
    says: "Refuse what is JSON and no object, and read the next line: null is such",
    code: "if (message === null || typeof message !== 'object') return send({ jsonrpc: '2.0', id: null, error: { code: -32600, message: 'Invalid Request' } });",
  },
  "XM-7": { says: 'Refuse a message whose jsonrpc is not "2.0" with −32600' },
  "XM-8": {
    says: "Answer each element of an array, or answer initialize with a version that the server knows, not with any that it is asked for: only one revision has batches",
  },
  "XM-9": { says: "Answer each request by itself: keep its id in no variable that requests share" },
  "XM-10": { says: "Ignore a cancellation of a request that is not running" },
  "XM-11": { says: "Refuse params that are an array with −32602: in MCP they are an object" },
  "XM-12": unchangedId,
  "XM-13": {
    says: "Put the chunks of stdin together before they are decoded: a chunk may end within a character",
    code: "createInterface({ input: process.stdin }).on('line', (line) => receive(JSON.parse(line)));",
  },
  "XF-1": everyPage,
  "XF-2": everyPage,
  "XF-3": everyPage,
  "XF-4": everyPage,
  "XF-5": { says: "Refuse a cursor that the server has not made with −32602; a server without pages refuses all" },
  "XF-6": refuse,
  "XF-7": {
    says: "Check the arguments against the inputSchema before the tool runs, and return a result with isError that names what is missing",
    code: "return { content: [{ type: 'text', text: 'city is missing' }], isError: true };",
  },
  "XF-8": {
    says: "Let a read-only tool without required arguments answer a call with {}, or correct its schema. A tool that asks its user is for run, with --answer",
    code: `parlance run --call 'book to=Oslo' --answer '{"seats":2}' -- node server.js`,
  },
  "XF-9": { says: "Read the resources under the URIs that resources/list has" },
  "XF-10": { says: "Refuse an unknown URI with −32602, or before the stateless era with −32002" },
  "XF-11": { says: "Refuse an unknown prompt with −32602" },
  "XF-12": { says: "Refuse a prompt whose required arguments are missing with −32602" },
  "XF-13": { says: "Compare the level with the eight of the specification, and refuse any other with −32602" },
  "XH-1": {
    says: "Refuse a request with 403 if it has an Origin that is not in the list of allowed ones",
    code: "if (origin !== undefined && !allowed.includes(origin)) response.writeHead(403).end();",
  },
  "XH-2": { says: "Refuse a body whose Content-Type is not application/json with 415" },
  "XH-3": { says: "Refuse a POST whose Accept lacks application/json or text/event-stream with 406" },
  "XH-4": accepted,
  "XH-5": { says: "Forget a session at its DELETE, and respond with 404 to its id from then on" },
  "XH-6": { says: "Refuse an MCP-Protocol-Version that the server does not know with 400" },
  "XH-7": { says: "Compare Mcp-Method and Mcp-Name with the body, and refuse a difference with 400 and −32020" },
  "XH-8": { says: "Respond to a GET with an event stream, or with 405 if the server has none" },
  "XH-9": { says: "Respond to a DELETE with a success, or with 405 if clients may not end sessions" },
  "XA-1": { says: "Look at the Authorization header before anything else, and respond with 401 if it is missing" },
  "XA-2": metadata,
  "XA-3": ownResource,
  "XA-4": metadata,
  "XA-5": verify,
  "XA-6": {
    says: "Say in the challenge that the token is not valid",
    code: 'headers: { "www-authenticate": \'Bearer error="invalid_token", resource_metadata="https://…"\' }',
  },
  "XA-7": verify,
  "XA-8": { says: "Read the token from the Authorization header alone" },
  "XA-9": missingScopes,
  "XA-10": { says: "Keep the user of a session with it, and respond with 404 to a request of another user" },
  "XA-11": { says: "Leave offline_access out of scope and scopes_supported: a client asks for it by itself" },
  "XS-1": {
    says: "End the process when stdin ends",
    code: "process.stdin.on('end', () => process.exit());",
  },
  "E-1": {
    says: "Write text as UTF-8; a buffer that was cut between two bytes of a character must be joined before it is decoded",
    code: 'stream.setEncoding("utf8");',
  },
  "S-1": {
    says: "Write each message with one call of JSON.stringify without indentation, then one line feed",
    code: 'stream.write(JSON.stringify(message) + "\\n");',
  },
  "S-2": {
    says: "Write logs to stderr: stdout belongs to messages, also for libraries and for what starts the server",
    code: 'console.error("ready"); // not console.log',
  },
  "S-3": { says: "Write nothing but messages to the stdin of the server" },
  "R-10": { says: "Send each message by itself: this revision has no batches" },
  "R-1": {
    says: 'Give every message the member jsonrpc with the text "2.0", and exactly one of method, result and error',
    code: "send({ jsonrpc: '2.0', id, result });",
  },
  "R-2": {
    says: "Number the requests with integers, or use strings",
    code: "send({ jsonrpc: '2.0', id: next++, method });",
  },
  "R-3": { says: "Give the request an id; leave the id out if no response is expected" },
  "R-4": { says: "Use a new id for each request, in one counter for the whole session" },
  "R-5": {
    says: "Take the id from the request as it was parsed: do not convert it, do not count responses, and do not keep it in a variable that calls share. A notification has no id, and no response",
    code: "send({ jsonrpc: '2.0', id: request.id, result });",
  },
  "R-6": {
    says: "An error is an object with a code and a message, a result is an object",
    code: "send({ jsonrpc: '2.0', id, error: { code: -32603, message: String(error) } });",
  },
  "R-7": noResponse,
  "R-8": { says: "Leave the id out: a notification has none", code: "send({ jsonrpc: '2.0', method });" },
  "R-9": { says: "Send the params by name, as an object" },
  "R-14": {
    says: "Use −32602 for wrong arguments and −32603 for everything that went wrong inside, or a code above −32000",
  },
  "R-15": {
    says: "Split stdin at line breaks: a chunk may hold several messages, or half of one",
    code: "createInterface({ input: process.stdin }).on('line', (line) => receive(JSON.parse(line)));",
  },
  "L-1": { says: "Send initialize first, and wait for its result" },
  "L-2": { says: "Send notifications/initialized after the result of initialize, before any other request" },
  "L-3": { says: "Send requests from the handler of notifications/initialized on" },
  "L-4": { says: "Open a new session for another initialize" },
  "L-8": { says: "Send a version that is published, as parlance explain lists them" },
  "L-9": { says: "Respond with the newest version that the server supports when it does not know the requested one" },
  "S-4": {
    says: "Return the request for input as a result of the type input_required: this revision has no requests of the server",
  },
  "N-1": { says: "Give every result a resultType", code: "return { resultType: 'complete', ...result };" },
  "N-2": { says: "Put the protocol version and the capabilities of the client into _meta of every request" },
  "M-1": { says: "Check the spelling of the method: parlance explain lists all" },
  "M-3": { says: "Use the name of the specification for the method" },
  "M-5": ownSchema,
  "M-6": ownSchema,
  "M-7": ownSchema,
  "C-1": { says: "Ask for what the server has declared in its capabilities alone" },
  "C-2": { says: "Look into the capabilities of the client before the request, and do without if it declares none" },
  "C-3": { says: "Declare the capability in the result of initialize, or do not use it" },
  "C-4": { says: "Keep the URIs to which this client has subscribed, and send updates for these alone" },
  "C-5": { says: "Declare logging in the capabilities of the server", code: "capabilities: { logging: {} }" },
  "T-1": {
    says: "Build structuredContent in the types of the outputSchema, or correct the schema: the handler or its schema is wrong, not the caller",
  },
  "T-2": {
    says: "Give the inputSchema the type object, also for a tool without arguments",
    code: 'inputSchema: { type: "object" }',
  },
  "T-3": { says: "Correct the schema, or generate it from the types that the handler uses" },
  "T-4": {
    says: "Return structuredContent beside the text, or leave the outputSchema out",
    code: "return { content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: value };",
  },
  "T-5": { says: "Name the tool with letters, digits, _ and -, once in the list" },
  "T-6": { says: "Call a tool that tools/list has, by its exact name" },
  "T-7": { says: "Build the arguments by the inputSchema of the tool: the pointer says which one does not fit" },
  "T-9": {
    says: "Return the failure of a tool as a result, so that the model reads it",
    code: "return { content: [{ type: 'text', text: String(error) }], isError: true };",
  },
  "P-1": {
    says: "Send the progressToken of the request itself, as it is; without one send no progress",
    code: "const { progressToken } = request.params._meta ?? {};",
  },
  "P-3": { says: "Count progress upwards only, and keep the token of a call in no variable that calls share" },
  "P-4": {
    says: "Send the response after the last progress, and wait for what runs beside it; keep the token of a call in no variable that calls share",
  },
  "X-1": { says: "Cancel with the id of a request that this side has sent, and that is still open" },
  "X-2": { says: "Drop the response when the request was cancelled" },
  "G-1": { says: "Send the nextCursor of the last page, unchanged, in the same session" },
  "V-2": { says: "Compare the level of each log message with that of logging/setLevel before it is sent" },
  "H-2": {
    says: "Accept both content types in a POST",
    code: 'headers: { accept: "application/json, text/event-stream" }',
  },
  "H-4": accepted,
  "H-5": {
    says: "Send the negotiated version with every request",
    code: 'headers: { "mcp-protocol-version": version }',
  },
  "H-8": { says: "Keep the Mcp-Session-Id of the response to initialize, and send it with every further request" },
  "H-10": { says: "Set the Content-Type to application/json, or to text/event-stream for a stream" },
  "H-12": { says: "Set the Content-Type", code: 'headers: { "content-type": "application/json" }' },
  "H-19": { says: "Respond with 404 when the session is unknown, so that the client opens another one" },
  "H-17": { says: "Respond with 404 when the session is unknown, so that the client opens another one" },
  "AU-1": {
    says: "Name the Protected Resource Metadata in the response",
    code: 'headers: { "www-authenticate": \'Bearer resource_metadata="https://…"\' }',
  },
  "AU-2": { says: "Send the token in the header", code: 'headers: { authorization: "Bearer " + token }' },
  "AU-4": ownResource,
  "E-2": {
    says: "Send each message as one frame, as the text of one JSON value",
    code: "socket.send(JSON.stringify(message));",
  },
  "R-11": { says: "Give the method as a string", code: "send({ jsonrpc: '2.0', id, method: 'tools/list' });" },
  "R-12": { says: "Choose a name that does not begin with rpc. for a method of your own" },
  "R-13": {
    says: "Answer what cannot be read with an error whose id is null, or without an id where the schema of the revision allows that; answer no notification at all (R-7)",
    code: "send({ jsonrpc: '2.0', error: { code: -32700, message: 'Parse error' } });",
  },
  "L-5": { says: "Send initialize by itself, and everything else after its result" },
  "L-6": { says: "Close the connection to give a handshake up, in place of a cancellation" },
  "L-7": { says: "Offer a version with a handshake in initialize, and use server/discover for later ones" },
  "S-5": { says: "Return the input in inputResponses of the repeated request" },
  "N-3": { says: "Use −32602 for a resource that does not exist, and the codes of the revision for everything else" },
  "N-4": { says: "Choose a code outside −32768 to −32000 for errors of your own" },
  "N-5": { says: "Use one version and the same capabilities in _meta for the whole connection" },
  "M-2": { says: "Check the spelling of the notification: parlance explain lists all" },
  "M-4": { says: "Look at the negotiated version before the message, and do without if that version lacks it" },
  "M-8": {
    says: "Compare the data with an example of its code, which parlance explain has",
    code: "parlance explain -32042",
  },
  "C-6": listChanged("tools"),
  "C-7": listChanged("resources"),
  "C-8": listChanged("prompts"),
  "T-8": { says: "Put x-mcp-header only on strings, integers and booleans, each with a header of its own" },
  "P-2": { says: "Take the id of the request as its progressToken, or count the tokens" },
  "X-3": {
    says: "Answer a request with an error in place of cancelling it; only subscriptions are cancelled by a server",
  },
  "Q-1": { says: "Ask for input in tools/call, prompts/get or resources/read" },
  "Q-2": {
    says: "Repeat the request with a new id, and with the requestState as it came",
    code: "call(method, { ...params, inputResponses, requestState: result.requestState });",
  },
  "U-1": {
    says: "Put the id of the subscriptions/listen request into _meta of each notification",
    code: "params: { _meta: { 'io.modelcontextprotocol/subscriptionId': request.id } }",
  },
  "U-2": { says: "Send notifications/subscriptions/acknowledged as soon as the subscription begins" },
  "U-3": { says: "Compare each notification with the filter of the subscription before it is sent" },
  "U-4": { says: "Remove the subscription before the response that ends it" },
  "U-5": { says: "Take the subscriptionId from the request that the result ends" },
  "V-1": { says: "Compare the level of each log message with the logLevel in _meta of the request before it is sent" },
  "H-1": { says: "Refuse a request with 403 if its Origin is not in the list of allowed ones" },
  "H-3": { says: "Put the message into the body of the POST", code: "body: JSON.stringify(message)" },
  "H-6": {
    says: "Fill the headers from the message that is in the body",
    code: "headers: { 'mcp-method': message.method, 'mcp-name': message.params.name }",
  },
  "H-7": { says: "Send each argument with x-mcp-header in its header too, as tools/list names it" },
  "H-9": { says: "Make the session id of visible ASCII characters", code: "const id = crypto.randomUUID();" },
  "H-11": { says: "Respond with 404 to an unknown method, and with 400 to an invalid request" },
  "H-13": { says: "End each event with an empty line", code: "write('data: ' + JSON.stringify(message) + '\\n\\n');" },
  "H-14": { says: "Send the response on the stream of the POST with its request" },
  "H-15": oneText,
  "H-16": oneText,
  "H-18": { says: "End the response after its head: a 202 has no body" },
  "AU-3": missingScopes,
  "AU-5": { says: "Name the authorization server in authorization_servers of the metadata" },
  "AU-6": { says: "Set the issuer of the metadata to the URL under which it is fetched, without the well-known part" },
  "AU-7": { says: "Announce PKCE in the metadata", code: '"code_challenge_methods_supported": ["S256"]' },
  "AU-8": { says: "Register a redirect URI of localhost, or one with https" },
  "AU-9": { says: "Send the application_type in the registration", code: '"application_type": "native"' },
  "AU-10": { says: "Stop before the sign-in if the metadata does not announce S256" },
  "AU-11": { says: "Send a code_challenge with the method S256 in the authorization request" },
  "AU-12": { says: "Send the URL of the server as resource in the authorization request" },
  "AU-13": { says: "Send a random state in the authorization request, and compare it in the redirect" },
  "AU-14": { says: "Return the state of the authorization request unchanged in the redirect" },
  "AU-15": { says: "Put the issuer of the metadata into the redirect, as iss" },
  "AU-16": {
    says: "Announce iss in the metadata",
    code: '"authorization_response_iss_parameter_supported": true',
  },
  "AU-17": { says: "Put the issuer into the redirect, as iss" },
  "AU-18": { says: "Send the URL of the server as resource in the token request" },
  "AU-19": { says: "Forbid caches to keep the response", code: 'headers: { "cache-control": "no-store" }' },
  "AU-20": { says: "Name the type of the token", code: '"token_type": "Bearer"' },
  "AU-21": { says: "Give out a new refresh token with every refresh, and keep the new one" },
  "I-1": { says: "Write each member of an object once" },
  "I-3": { says: "Cut a text between characters, and not between the halves of a surrogate pair" },
  "I-4": { says: "Write the text without a byte order mark", code: 'Buffer.from(text, "utf8")' },
  "I-2": { says: "Send integers beyond 2^53 as strings, or read them with a parser that keeps all digits" },
};
