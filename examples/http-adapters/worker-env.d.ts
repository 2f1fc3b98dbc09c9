declare module "cloudflare:workers" {
  /** What wrangler.jsonc and secrets bind; `wrangler types` writes this file. */
  export const env: { readonly STATE_SECRET: string };
}
