import type { JSX } from "preact";

const paths = {
  must: "M4 4l8 8M12 4l-8 8",
  should: "M8 2l6.5 11.5h-13zM8 6.5v3M8 11.6v.2",
  may: "M8 14A6 6 0 108 2a6 6 0 000 12zM8 7.5v3.6M8 5v.2",
  client: "M3 8h10M9 4l4 4-4 4",
  server: "M13 8H3M7 4L3 8l4 4",
  waits: "M8 14A6 6 0 108 2a6 6 0 000 12zM8 4.5V8l2.5 1.5",
} as const;

/** The name of an icon. */
export type IconName = keyof typeof paths;

/** An icon. It is decorative: text has the same information. */
export function Icon({ name }: { readonly name: IconName }): JSX.Element {
  return (
    <svg class={`icon ${name}`} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}
