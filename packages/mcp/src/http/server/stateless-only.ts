import { RpcError } from "../../jsonrpc/errors.js";
import { isRequest } from "../../jsonrpc/message.js";
import { mcpProfile, type Profile } from "../../jsonrpc/profile.js";
import { specCodes } from "../../protocol/errors.js";
import { isObject } from "../../protocol/json.js";
import { statelessVersions } from "../../protocol/revisions/all.js";
import type { HttpRequest, HttpResponse } from "./request.js";
import { errorResponse, refusal } from "./responses.js";
import { elementsOf, type HandshakeBinding, opens, type Posted } from "./sessions/handshake-binding.js";

/** Serves no handshake revision. A client that sends `initialize` gets the list of supported revisions. */
export const statelessOnly: HandshakeBinding = {
  methods: [],
  profileOf: (): Profile => mcpProfile,
  post(_request: HttpRequest, _frame: string, posted: Posted): HttpResponse {
    const [first] = elementsOf(posted);
    if (!opens(posted) || first === undefined || !("method" in first) || !isRequest(first)) {
      return refusal(400, `name the revision in params._meta: ${statelessVersions.join(", ")}`);
    }
    const requested = isObject(first.params) ? first.params.protocolVersion : undefined;
    const message = `Unsupported protocol version: this server speaks ${statelessVersions.join(", ")}`;
    const error = new RpcError(specCodes.unsupportedProtocolVersion, message, {
      supported: statelessVersions,
      requested: typeof requested === "string" ? requested : "",
    });
    return errorResponse(400, error.toJSON(), first.id);
  },
  get: notSpoken,
  delete: notSpoken,
  drain: () => Promise.resolve(),
  close: () => undefined,
};

function notSpoken(): HttpResponse {
  return refusal(405, "supported methods: POST", { allow: "POST" });
}
