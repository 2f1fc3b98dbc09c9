import { contentLength } from "@parlance/mcp/jsonrpc";

/** The bytes of a stream: text in UTF-8, or bytes as they are. */
export type Wire = readonly (string | readonly number[])[];

/** A stream and what a decoder must make of it. */
interface Stream {
  readonly name: string;
  readonly wire: Wire;
  /** The longest frame; 64 bytes unless a row is about it. */
  readonly max?: number;
  /** A frame is its text; a refusal is `!reason bytes`, then its head in quotes. */
  readonly gives: readonly string[];
}

/** The UTF-8 byte order mark. */
export const mark = [0xef, 0xbb, 0xbf];
/** Half of a surrogate pair, encoded as if it were a character. */
export const half = [0xed, 0xa0, 0x80];

/** Streams for `lines`. */
export const lineStreams: readonly Stream[] = [
  { name: "two lines", wire: ['{"a":1}\n[2]\n'], gives: ['{"a":1}', "[2]"] },
  { name: "CRLF and LF in one stream", wire: ["1\r\n2\n3\r\n"], gives: ["1", "2", "3"] },
  { name: "a carriage return inside a line stays", wire: ["1\r2\r\r\n"], gives: ["1\r2\r"] },
  { name: "blank lines and lines of white space", wire: ["\n\r\n1\n\n \t\r\n  \n2\n"], gives: ["1", "2"] },
  { name: "white space around a frame stays", wire: [" 1 \n"], gives: [" 1 "] },
  { name: "a mark at the start", wire: [mark, "1\n2\n"], gives: ["1", "2"] },
  { name: "a mark and nothing else", wire: [mark], gives: [] },
  { name: "a mark before a blank line", wire: [mark, "\r\n1\n"], gives: ["1"] },
  { name: "a second mark is text", wire: [mark, mark, "1\n", mark, "2\n"], gives: ["\ufeff1", "\ufeff2"] },
  { name: "two bytes of a mark, then a line", wire: [[0xef, 0xbb], "1\n2\n"], gives: ['!not-utf8 3 "\ufffd1"', "2"] },
  { name: "one byte of a mark, then the end", wire: [[0xef]], gives: ['!truncated 1 "\ufffd"'] },
  { name: "two, three and four byte characters", wire: ['"é漢😀"\n'], gives: ['"é漢😀"'] },
  { name: "U+FFFD itself and NUL are text", wire: ["\ufffd\0\n"], gives: ["\ufffd\0"] },
  { name: "U+2028 and U+0085 end no line", wire: ["1\u2028\u00852\n"], gives: ["1\u2028\u00852"] },
  {
    name: "a stray byte spoils its line alone",
    wire: ["1\n2", [0xff], "2\n3\n"],
    gives: ["1", '!not-utf8 3 "2\ufffd2"', "3"],
  },
  { name: "a character cut by the newline", wire: [[0xe6, 0xbc], "\n1\n"], gives: ['!not-utf8 2 "\ufffd"', "1"] },
  { name: "a surrogate half", wire: ["1\n", half, "\r\n2\n"], gives: ["1", '!not-utf8 3 "\ufffd\ufffd\ufffd"', "2"] },
  { name: "CESU-8", wire: [half, [0xed, 0xb0, 0x80], "\n2\n"], gives: [`!not-utf8 6 "${"\ufffd".repeat(6)}"`, "2"] },
  { name: "an overlong slash", wire: [[0xc0, 0xaf], "\n1\n"], gives: ['!not-utf8 2 "\ufffd\ufffd"', "1"] },
  {
    name: "beyond U+10FFFF",
    wire: [[0xf4, 0x90, 0x80, 0x80], "\n1\n"],
    gives: [`!not-utf8 4 "${"\ufffd".repeat(4)}"`, "1"],
  },
  {
    name: "an overlong newline is none",
    wire: ["1", [0xc0, 0x8a], "2\n3\n"],
    gives: ['!not-utf8 4 "1\ufffd\ufffd2"', "3"],
  },
  { name: "a line at the limit", max: 4, wire: ["1234\n1234\r\n5\n"], gives: ["1234", "1234", "5"] },
  {
    name: "a line one byte over the limit",
    max: 4,
    wire: ["12345\n12345\r\n6\n"],
    gives: ['!too-long 5 "12345"', '!too-long 5 "12345"', "6"],
  },
  {
    name: "a line far over the limit",
    max: 4,
    wire: ["1\n", "2".repeat(40), "\n3\n"],
    gives: ["1", `!too-long 40 "${"2".repeat(40)}"`, "3"],
  },
  { name: "a limit counts bytes", max: 4, wire: ["漢1\n漢é\n"], gives: ["漢1", '!too-long 5 "漢é"'] },
  { name: "a mark does not count", max: 4, wire: [mark, "1234\n"], gives: ["1234"] },
  { name: "too many spaces are no blank line", max: 4, wire: ["     \n1\n"], gives: ['!too-long 5 "     "', "1"] },
  { name: "too long and not UTF-8", max: 4, wire: ["1234", [0xff], "\n1\n"], gives: ['!too-long 5 "1234\ufffd"', "1"] },
  { name: "the end inside a line", wire: ["1\n12"], gives: ["1", '!truncated 2 "12"'] },
  { name: "the end behind white space", wire: ["1\n \t\r"], gives: ["1"] },
  { name: "the end inside a character", wire: ["1", [0xe6, 0xbc]], gives: ['!truncated 3 "1\ufffd"'] },
  { name: "the end inside a line that is too long", max: 4, wire: ["1\n12345"], gives: ["1", '!too-long 5 "12345"'] },
  { name: "nothing", wire: [], gives: [] },
];

const headed = (body: string) => contentLength.encode(body);
/** A header whose length cannot be trusted. */
export const junk = "Content-Length: 52junk\r\n\r\n";

/** Streams for `contentLength`. */
export const headerStreams: readonly Stream[] = [
  { name: "two frames", wire: [headed('{"a":1}'), headed("[2]")], gives: ['{"a":1}', "[2]"] },
  {
    name: "a length counts bytes",
    wire: ["Content-Length: 11\r\n\r\n", '"é漢😀"', headed("1")],
    gives: ['"é漢😀"', "1"],
  },
  { name: "an empty body", wire: [headed(""), headed("1"), headed("")], gives: ["", "1", ""] },
  { name: "a body with line breaks", wire: [headed("{\r\n\r\n}"), headed("1")], gives: ["{\r\n\r\n}", "1"] },
  {
    name: "names in any case, no space, spaces",
    wire: ["content-length:1\r\n\r\n1CONTENT-LENGTH: \t 2 \r\n\r\n22"],
    gives: ["1", "22"],
  },
  { name: "leading zeros", wire: ["Content-Length: 0001\r\n\r\n1"], gives: ["1"] },
  { name: "line feeds alone", wire: ["Content-Length: 1\n\n1Content-Length: 1\n\r\n2"], gives: ["1", "2"] },
  {
    name: "other fields, before and behind",
    wire: [
      "X-Content-Length: 9\r\nContent-Length: 1\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n1",
    ],
    gives: ["1"],
  },
  { name: "charset utf8", wire: ['Content-Type: a/b;charset="UTF8"\r\nContent-Length: 1\r\n\r\n1'], gives: ["1"] },
  {
    name: "another charset: its body is skipped",
    wire: ["Content-Type: a/b; charset=utf-16\r\nContent-Length: 4\r\n\r\n1234", headed("1")],
    gives: ['!bad-header 4 "1234"', "1"],
  },
  { name: "the same length twice", wire: ["Content-Length: 1\r\nContent-Length: 01\r\n\r\n1"], gives: ["1"] },
  {
    name: "two lengths that differ",
    wire: ["Content-Length: 1\r\nContent-Length: 2\r\n\r\n12", headed("1")],
    gives: ['!bad-header 38 "Content-Length: 1\r\nContent-Length: 2\r\n"', '!bad-header 2 "12"', "1"],
  },
  {
    name: "junk behind the number",
    wire: [junk, '{"a":1}', headed("1")],
    gives: [refusedHeader("52junk"), '!bad-header 7 "{"a":1}"', "1"],
  },
  {
    name: "a negative length",
    wire: ["Content-Length: -5\r\n\r\n12345", headed("1")],
    gives: [refusedHeader("-5"), '!bad-header 5 "12345"', "1"],
  },
  {
    name: "a signed length",
    wire: ["Content-Length: +1\r\n\r\n1", headed("2")],
    gives: [refusedHeader("+1"), '!bad-header 1 "1"', "2"],
  },
  {
    name: "a length with an exponent",
    wire: ["Content-Length: 1e1\r\n\r\n", headed("2")],
    gives: [refusedHeader("1e1"), "2"],
  },
  {
    name: "a length in hexadecimal",
    wire: ["Content-Length: 0x1\r\n\r\n", headed("2")],
    gives: [refusedHeader("0x1"), "2"],
  },
  {
    name: "no length",
    wire: ["Content-Length:\r\n\r\n", headed("2")],
    gives: ['!bad-header 17 "Content-Length:\r\n"', "2"],
  },
  {
    name: "a length that nobody can mean",
    wire: ["Content-Length: 1000000000000\r\n\r\n[1]", headed("2")],
    gives: [refusedHeader("1000000000000"), '!bad-header 3 "[1]"', "2"],
  },
  {
    name: "a header without the length",
    wire: ["X-A: 1\r\n\r\ntrue", headed("2")],
    gives: ['!bad-header 8 "X-A: 1\r\n"', '!bad-header 4 "true"', "2"],
  },
  {
    name: "a log line before a header",
    wire: ["server started\n", headed("1")],
    gives: ['!bad-header 14 "server started"', "1"],
  },
  { name: "a log line with a colon before a header", wire: ["INFO: started\n", headed("1")], gives: ["1"] },
  {
    name: "a log line of words with a colon",
    wire: ["it is 12:30\r\n", headed("1")],
    gives: ['!bad-header 12 "it is 12:30\r"', "1"],
  },
  {
    name: "text that runs into a header",
    wire: ["starting… ", headed("1")],
    gives: ['!bad-header 12 "starting… "', "1"],
  },
  {
    name: "a log line inside a header",
    wire: ["Content-Length: 1\r\nin the way\r\n\r\n1", headed("2")],
    gives: ['!bad-header 30 "Content-Length: 1\r\nin the way\r"', '!bad-header 1 "1"', "2"],
  },
  {
    name: "a space before the colon",
    wire: ["Content-Length : 1\r\n\r\n1", headed("2")],
    gives: ['!bad-header 19 "Content-Length : 1\r"', '!bad-header 1 "1"', "2"],
  },
  {
    name: "a folded field",
    wire: ["X-A: 1\r\n  more\r\n", headed("2")],
    gives: ['!bad-header 15 "X-A: 1\r\n  more\r"', "2"],
  },
  {
    name: "a pretty body behind a bad header",
    wire: [junk, "{\n\n}", headed("2")],
    gives: [refusedHeader("52junk"), '!bad-header 1 "{"', '!bad-header 1 "}"', "2"],
  },
  {
    name: "line ends and white space between frames",
    wire: ["\r\n\n", headed("1"), "\r\n  \n ", headed("2"), "\n"],
    gives: ["1", "2"],
  },
  { name: "a mark at the start", wire: [mark, headed("1")], gives: ["1"] },
  { name: "a mark in a body is text", wire: ["Content-Length: 4\r\n\r\n", mark, "1"], gives: ["\ufeff1"] },
  { name: "a body at the limit", max: 4, wire: [headed("1234"), headed("5")], gives: ["1234", "5"] },
  {
    name: "a body one byte over the limit",
    max: 4,
    wire: [headed("12345"), headed("6")],
    gives: ['!too-long 5 "12345"', "6"],
  },
  {
    name: "a body not UTF-8",
    wire: ["Content-Length: 3\r\n\r\n", half, headed("1")],
    gives: ['!not-utf8 3 "\ufffd\ufffd\ufffd"', "1"],
  },
  {
    name: "a character cut by the length",
    wire: ["Content-Length: 1\r\n\r\n", [0xc3], headed("1")],
    gives: ['!not-utf8 1 "\ufffd"', "1"],
  },
  {
    name: "the end inside a body",
    wire: [headed("1"), "Content-Length: 9\r\n\r\n123"],
    gives: ["1", '!truncated 3 "123"'],
  },
  { name: "the end before a body", wire: ["Content-Length: 9\r\n\r\n"], gives: ['!truncated 0 ""'] },
  {
    name: "the end inside a header",
    wire: ["Content-Length: 9\r\nX"],
    gives: ['!truncated 20 "Content-Length: 9\r\nX"'],
  },
  {
    name: "the end inside a body that is too long",
    max: 4,
    wire: ["Content-Length: 9\r\n\r\n12345"],
    gives: ['!too-long 5 "12345"'],
  },
  { name: "the end behind a bad header", wire: [junk, "12"], gives: [refusedHeader("52junk"), '!truncated 2 "12"'] },
  {
    name: "bytes that are no text",
    wire: [[0xff, 0xfe, 0x0a], headed("1")],
    gives: ['!bad-header 2 "\ufffd\ufffd"', "1"],
  },
  { name: "nothing", wire: [], gives: [] },
];

function refusedHeader(length: string): string {
  const text = `Content-Length: ${length}\r\n`;
  return `!bad-header ${text.length} "${text}"`;
}
