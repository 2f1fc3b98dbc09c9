// The methods by which the page acts on the connected server. The command makes every call with its only client.

/** A request made by the page. */
export interface PageCall {
  readonly key: number;
  readonly method: string;
  /** The target: the name of a tool or a prompt, or a URI. */
  readonly about: string;
  readonly state: "running" | "done" | "failed" | "cancelled";
  /** The duration in milliseconds; while it runs, until now. */
  readonly took: number;
  readonly progress: PageProgress | undefined;
  /** The numbers of its frames, once they are recorded. */
  readonly request: number | undefined;
  readonly response: number | undefined;
  /** The command line that does the same. */
  readonly command: string | undefined;
}

/** The last progress notification of a call. */
export interface PageProgress {
  readonly progress: number;
  readonly total: number | undefined;
  readonly message: string | undefined;
}

/** The server that the command is connected to. */
export interface PageActing {
  readonly title: string;
  readonly phase: "opening" | "open" | "over";
  /** The recording of the conversation. */
  readonly recording: string;
  /** The negotiated revision; undefined before the negotiation. */
  readonly revision: string | undefined;
  /** The revision or era that a page has requested. */
  readonly asked: PageSpoken;
  /** The revisions that can be requested, oldest first. */
  readonly versions: readonly string[];
  /** Whether another conversation can replace this one. */
  readonly canReconnect: boolean;
  /** A counter that increases when the lists of the server have changed. */
  readonly offers: number;
  /** Why the conversation failed. */
  readonly failure: PageFailure | undefined;
  /** The last examination. */
  readonly examination: { readonly isOver: boolean; readonly checks: readonly PageCheck[] } | undefined;
  /** The last calls, newest first. */
  readonly calls: readonly PageCall[];
  /** The input requests of the server, oldest first. */
  readonly inputs: readonly PageInput[];
  /** The URIs of the roots. */
  readonly roots: readonly string[];
  /** Whether the server offers subscriptions to resources. */
  readonly canSubscribe: boolean;
  /** The subscribed resources, with the number of updates of each. */
  readonly subscriptions: readonly { readonly uri: string; readonly updates: number }[];
}

/** The only revision, or the only era, to negotiate. Default: the newest revision that both support. */
export interface PageSpoken {
  readonly revision?: string;
  readonly era?: "handshake" | "stateless";
}

/** The failure of a command, as it prints it. */
export interface PageFailure {
  readonly says: string;
  /** Evidence, line by line. */
  readonly seen: readonly string[];
  readonly remedy: string | undefined;
}

/** A check of `parlance doctor`. */
export interface PageCheck extends PageFailure {
  readonly name: string;
  readonly state: "ok" | "failed" | "absent" | "not tried";
  readonly notes: readonly string[];
  /** The address of the broken requirement. */
  readonly rule: string | undefined;
}

/** A request of the server for input. */
export interface PageInput {
  readonly key: number;
  readonly kind: "form" | "url" | "sampling";
  /** The message; for sampling, the params as JSON. */
  readonly message: string;
  /** The schema of a form. */
  readonly schema?: Readonly<Record<string, unknown>>;
  /** The URL to open. */
  readonly url?: string;
}

/** The answer to a request for input. */
export interface PageAnswer {
  readonly action: "accept" | "decline" | "cancel";
  /** The content of a form; the text of a model, or a whole result of sampling. */
  readonly value?: unknown;
}

/** A tool, a resource, a template of resources, or a prompt. */
export interface PageOffer {
  readonly kind: "tool" | "resource" | "template" | "prompt";
  /** The name of a tool or a prompt, or the URI. */
  readonly name: string;
  readonly title: string | undefined;
  readonly description: string | undefined;
  /** Annotations and other facts, in words. */
  readonly hints: readonly string[];
  /** The schema of its arguments; those of a prompt and of a template are strings. */
  readonly schema: Readonly<Record<string, unknown>>;
}

/** The response of a server: the JSON of the result as written, an error, or why there is neither. */
export type PageResult =
  | { readonly kind: "result"; readonly json: string }
  | { readonly kind: "error"; readonly json: string }
  | { readonly kind: "none"; readonly says: string };

/** A fault of arguments, by the schema of the tool. */
export interface PageFault {
  /** A JSON pointer. */
  readonly path: string;
  readonly message: string;
}

/** A saved request, or a file that is not one, with its fault. */
export type PageRequest =
  | {
      readonly name: string;
      readonly method: string;
      readonly params: Readonly<Record<string, unknown>>;
      readonly description?: string;
    }
  | { readonly name: string; readonly fault: string };

/** The methods of the page's server that act, with their params and results. */
export interface ActMethods {
  /** The rows of a recording that match a filter, in a format of `parlance export`. */
  export(params: { readonly recording?: string; readonly to: string; readonly filter: string }): string;
  /** Null for a page that only shows recordings. */
  acting(params: Record<string, never>): PageActing | null;
  offers(params: Record<string, never>): readonly PageOffer[];
  /** Reads the lists of the server again. */
  listAgain(params: Record<string, never>): null;
  /** Checks arguments by the schema of a tool, and writes the command line that makes the call. */
  check(params: { readonly tool: string; readonly args: Readonly<Record<string, unknown>> }): {
    readonly faults: readonly PageFault[];
    readonly command: string | undefined;
  };
  /** Starts the checks of `parlance doctor`; returns before they end. */
  examine(params: Record<string, never>): null;
  /** Starts a request, and returns its key before it ends. */
  request(params: { readonly method: string; readonly params: Readonly<Record<string, unknown>> }): number;
  /** Starts another conversation in place of the current one; returns before it is open. */
  reconnect(params: { readonly asked: PageSpoken }): null;
  cancel(params: { readonly key: number }): null;
  /** Sends bytes unchanged, bypassing the client. */
  sendRaw(params: { readonly text: string }): null;
  /** Answers a request of the server. */
  answer(params: { readonly key: number; readonly answer: PageAnswer }): null;
  setRoots(params: { readonly folders: readonly string[] }): null;
  /** Subscribes to a resource, or ends the subscription. */
  subscribe(params: { readonly uri: string; readonly ends: boolean }): null;
  /** Completions of an argument of a prompt or a template; empty if the server has no completions. */
  complete(params: {
    readonly kind: "prompt" | "template";
    readonly name: string;
    readonly argument: string;
    readonly value: string;
    readonly settled: Readonly<Record<string, string>>;
  }): readonly string[];
  /** Waits for the end of the call. */
  result(params: { readonly key: number }): PageResult;
  /** The saved requests, read from their files. */
  requests(params: Record<string, never>): readonly PageRequest[];
  /** Saves a request, and returns the path of its file; null if the name is taken and must not be replaced. */
  saveRequest(params: {
    readonly name: string;
    readonly method: string;
    readonly params: Readonly<Record<string, unknown>>;
    readonly replaces: boolean;
  }): string | null;
}
