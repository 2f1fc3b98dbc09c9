// Starts the server and its authorization server, then calls it as two users.
// With --browser, the users sign in on the page of the authorization server.
import { oauth } from "@parlance/mcp/auth";
import { browserSignIn } from "@parlance/mcp/auth-node";
import { connect, textOf } from "@parlance/mcp/client";
import { auth, serveNotes } from "./server.js";

const withBrowser = process.argv.includes("--browser");
const http = await serveNotes();

/** @param {string} user */
function signIn(user) {
  const how = withBrowser
    ? { signIn: browserSignIn() }
    : { redirectUrl: "http://127.0.0.1:1/callback", authorize: auth.signInAs(user) };
  return oauth({
    clientName: "Notes example",
    scopes: ["notes:read"],
    ...how,
    onStep: ({ kind, text }) => {
      if (kind === "challenge" || kind === "step-up" || kind === "authorization")
        console.log(`  ${kind}: ${text.replace(/eyJ\S+/, "the client")}`);
    },
  });
}

for (const user of ["ada", "bob"]) {
  console.log(withBrowser ? `${user}: pick ${user} in the browser` : user);
  const client = await connect(http.url, { auth: signIn(user) });
  console.log(textOf(await client.tools.call("list_notes")));
  try {
    console.log(textOf(await client.tools.call("add_note", { text: "buy milk" })));
    console.log(textOf(await client.tools.call("list_notes")));
  } catch (error) {
    console.log(error instanceof Error ? error.message : error);
  }
  await client.close();
}
await http.close();
