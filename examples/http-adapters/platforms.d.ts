// The parts of the platforms that the files here use. `@cloudflare/workers-types`, `@types/bun` and `@types/deno` say all of it.

declare module "cloudflare:workers" {
  /** The bindings of wrangler.jsonc and secrets. */
  export const env: { readonly STATE_SECRET: string };
}

declare const Bun: {
  serve(options: {
    readonly hostname: string;
    readonly port: number;
    readonly idleTimeout: number;
    readonly routes: Readonly<Record<string, (request: Request) => Promise<Response>>>;
  }): { readonly url: URL; stop(): Promise<void> };
};

declare const Deno: {
  serve(
    options: {
      readonly hostname: string;
      readonly port: number;
      readonly onListen: (address: { readonly port: number }) => void;
    },
    handler: (request: Request) => Promise<Response>,
  ): { shutdown(): Promise<void> };
};
