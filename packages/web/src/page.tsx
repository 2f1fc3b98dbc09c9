import { render } from "preact";
import { readActing, takeActing } from "./act/act-state.js";
import { App } from "./app.js";
import { readColumns } from "./columns.js";
import { listenToKeys } from "./keys.js";
import { readInterception, takeInterception } from "./panels/intercept-state.js";
import { start } from "./state.js";

start(
  () => {
    void readActing();
    void readInterception();
    void readColumns();
  },
  { acted: takeActing, intercepted: takeInterception },
);
listenToKeys();
render(<App />, document.body);
