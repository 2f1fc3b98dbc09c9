import { render } from "preact";
import { App } from "./app.js";
import { listenToKeys } from "./keys.js";
import { start } from "./state.js";

start();
listenToKeys();
render(<App />, document.body);
