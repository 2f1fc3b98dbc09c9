// A peer on vscode-jsonrpc over stdin and stdout. It answers `wait` only when it is cancelled. Told to `cancel`, it calls
// `wait` on the other side, cancels it, and tells how that ended.
import {
  CancellationTokenSource,
  createMessageConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-jsonrpc/node.js";

const connection = createMessageConnection(
  new StreamMessageReader(process.stdin),
  new StreamMessageWriter(process.stdout),
);

connection.onRequest("wait", (_params, token) => new Promise((resolve) => token.onCancellationRequested(resolve)));
connection.onRequest("cancel", async () => {
  const source = new CancellationTokenSource();
  const outcome = connection.sendRequest("wait", {}, source.token).catch(({ code, message }) => ({ code, message }));
  await connection.sendRequest("ping"); // So that the call runs when it is cancelled.
  source.cancel();
  return outcome;
});
connection.onClose(() => process.exit());
connection.listen();
