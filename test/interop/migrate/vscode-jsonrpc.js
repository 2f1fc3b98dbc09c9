import { PassThrough } from "node:stream";
import {
  createMessageConnection,
  NotificationType,
  RequestType,
  ResponseError,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-jsonrpc/node.js";

const there = new PassThrough();
const back = new PassThrough();
const open = (input, output) =>
  createMessageConnection(new StreamMessageReader(input), new StreamMessageWriter(output));

const divide = new RequestType("divide");
const greeted = new NotificationType("greeted");

const server = open(there, back);
server.onRequest(divide, ({ dividend, divisor }) => {
  if (divisor === 0) throw new ResponseError(1001, "Division by zero");
  return dividend / divisor;
});
server.onNotification(greeted, ({ name }) => console.log(`hello from ${name}`));
server.listen();

const client = open(back, there);
client.listen();
await client.sendNotification(greeted, { name: "Ada" });
console.log(await client.sendRequest(divide, { dividend: 1, divisor: 4 }));
await client.sendRequest(divide, { dividend: 1, divisor: 0 }).catch(({ code, message }) => console.log(code, message));
client.dispose();
server.dispose();
