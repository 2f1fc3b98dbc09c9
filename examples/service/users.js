import { expected, RpcError } from "@parlance/mcp/jsonrpc";

/** @import { Service } from "@parlance/mcp/jsonrpc" */

/**
 * @typedef {object} User
 * @property {number} id
 * @property {string} name
 * @property {string} email
 */

const unknownUser = 1101;
const emailTaken = 1102;
const storeFull = 1103;

const capacity = 1_000;

/** @param {Service} service */
export function addUsers(service) {
  /** @type {Map<number, User>} */
  const users = new Map();
  let lastId = 0;

  /** @param {{ id: number }} params */
  const get = ({ id }) => {
    const user = users.get(id);
    if (user === undefined) throw new RpcError(unknownUser, "Unknown user", { id });
    return user;
  };

  /** @param {{ name: string, email: string }} params */
  const create = ({ name, email }) => {
    if (users.size === capacity) throw new RpcError(storeFull, "The store is full", { capacity });
    for (const user of users.values()) {
      if (user.email === email) throw new RpcError(emailTaken, "The e-mail address is taken", { email });
    }
    lastId += 1;
    const user = { id: lastId, name, email };
    users.set(user.id, user);
    return user;
  };

  /** @param {{ id: number }} params */
  const remove = ({ id }) => {
    get({ id });
    return users.delete(id);
  };

  service
    .method("users.create", create, { params: ["name", "email"], check: checkUser })
    .method("users.get", get, { params: ["id"], check: checkId })
    .method("users.list", () => [...users.values()])
    .method("users.delete", remove, { params: ["id"], check: checkId });
}

/**
 * Every fault at once, so that a caller can mend them all before the next try.
 *
 * @param {{ name: unknown, email: unknown }} params
 */
function checkUser({ name, email }) {
  /** @type {ReturnType<typeof expected>[]} */
  const faults = [];
  if (!isText(name)) faults.push(expected("a name of 1 to 100 characters", "name", name));
  if (!isText(email) || !email.includes("@")) faults.push(expected("an e-mail address", "email", email));
  return faults;
}

/** @param {{ id: unknown }} params */
function checkId({ id }) {
  return typeof id === "number" ? [] : [expected("a number", "id", id)];
}

/**
 * @param {unknown} value
 * @returns {value is string}
 */
function isText(value) {
  return typeof value === "string" && value.trim() !== "" && value.length <= 100;
}
