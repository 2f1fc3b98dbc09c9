import { render } from "preact";
import { readActing, takeActing } from "./act/act-state.js";
import { App } from "./app.js";
import { listenToKeys } from "./keys.js";
import { start } from "./state.js";

start(() => void readActing(), takeActing);
listenToKeys();
render(<App />, document.body);
