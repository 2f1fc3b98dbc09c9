import { type AskedHeaders, sessionGet, statelessCall } from "../asked.js";
import type { Row } from "./row.js";

const call = (headers: AskedHeaders): Row["asked"] => statelessCall("echo", { text: "no" }, headers);

const contentTypes = [
  undefined,
  "text/plain",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "text/plain; application/json",
  "application/json-seq",
  "application/json, text/plain",
];
const charsets = ["iso-8859-1", "utf-16", "utf-7", '"latin1"', "utf-8; charset=utf-16"];
const encodings = ["gzip", "deflate", "br", "zstd", "identity, gzip", "gzip, gzip", "what"];
const accepts = [
  undefined,
  "",
  "application/json",
  "text/event-stream",
  "text/html",
  "application/jsonx, text/event-streams",
  "application/json, text/event-stream;q=0",
];

/** Media types that a page can send without a preflight, and types that are not supported. */
export const mediaRows: readonly Row[] = [
  ...contentTypes.map((type) => ({
    name: `Content-Type ${type}`,
    asked: call({ "content-type": type }),
    status: 415,
    code: -32_600,
    says: "Content-Type",
  })),
  ...charsets.map((charset) => ({
    name: `charset ${charset}`,
    asked: call({ "content-type": `application/json; charset=${charset}` }),
    status: 415,
    code: -32_600,
    says: "charset of the body is not utf-8",
  })),
  ...encodings.map((encoding) => ({
    name: `Content-Encoding ${encoding}`,
    asked: call({ "content-encoding": encoding }),
    status: 415,
    code: -32_600,
    says: "Content-Encoding",
    headers: { "accept-encoding": "identity" },
  })),
  ...accepts.map((accept) => ({
    name: `Accept ${accept}`,
    asked: call({ accept }),
    status: 406,
    code: -32_600,
    says: "Accept must have application/json and text/event-stream",
  })),
  {
    name: "a GET that takes no events",
    asked: ({ session }) => sessionGet(session, { accept: "application/json" }),
    status: 406,
    code: -32_600,
    says: "Accept must have text/event-stream",
  },
  ...["PUT", "HEAD", "OPTIONS", "PATCH"].map((method) => ({
    name: method,
    asked: { method },
    status: 405,
    ...(method === "HEAD" ? {} : { code: -32_600 }),
    headers: { allow: "POST, GET, DELETE" },
  })),
];
