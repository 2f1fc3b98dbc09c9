import { requireString } from "../base/check-members.js";
import { didYouMean } from "../base/did-you-mean.js";
import type { Authentication } from "../jsonrpc/call.js";
import { changingLists, type ListName } from "../protocol/types/subscriptions.js";
import type { Changes } from "../session/change-feed.js";
import { isVisible } from "./features/registry.js";
import { uriFault } from "./features/resources/uri.js";
import { requireVisible, type ScopedDefinition } from "./required-scopes.js";

type Visible = ScopedDefinition["visible"];

/** Reports changes that the server cannot detect itself. */
export interface Changed {
  /**
   * Reports that the contents of a resource changed: clients that subscribed to exactly this URI, and may still read it, are notified.
   *
   * @example
   * server.changed.resource("notes:/1", (auth) => auth?.subject === "ada");
   *
   * @param visible the callers who may learn of it, by the rules of `visible` in a definition. Default: all who see the definition
   * @throws TypeError for a text that is no URI, and for a `visible` that is no function
   */
  resource(uri: string, visible?: Visible): void;
  /**
   * Reports that a list changed for another reason than a definition, such as the result of a template's `list`, or a middleware.
   *
   * @param visible the callers whose list it is, by the rules of `visible` in a definition. Default: all of them
   * @throws TypeError for a list that MCP does not have, and for a `visible` that is no function
   */
  list(list: ListName, visible?: Visible): void;
}

/** The functions with which an author reports changes. @param mayLearnOf whether a caller may learn of changes of a resource */
export function changedBy(changes: Changes, mayLearnOf: (uri: string, auth: Authentication) => boolean): Changed {
  return {
    resource(uri, visible) {
      requireString("server.changed.resource: the URI", uri, "write server.changed.resource(uri)");
      const fault = uriFault(uri);
      if (fault !== undefined) throw new TypeError(`server.changed.resource: ${JSON.stringify(uri)} ${fault}`);
      requireVisible("server.changed.resource", visible);
      changes.tell({ kind: "resource", uri }, (auth) => mayLearnOf(uri, auth) && isVisible({ visible }, auth));
    },
    list(list, visible) {
      const names = changingLists.map((each) => each.list);
      if (!names.includes(list)) {
        const remedy = didYouMean(String(list), names) ?? `there are ${names.join(", ")}`;
        throw new TypeError(`server.changed.list: there is no list ${JSON.stringify(list)}: ${remedy}`);
      }
      requireVisible("server.changed.list", visible);
      changes.tell({ kind: "list", list }, visible && ((auth) => isVisible({ visible }, auth)));
    },
  };
}
