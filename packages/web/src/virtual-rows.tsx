import type { ComponentChildren, HTMLAttributes, JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

/** The number of rendered rows above and below the visible part. */
const spare = 8;

/** The maximum height of an element in pixels: browsers cut higher ones. */
const highest = 15_000_000;

interface VirtualRowsOptions extends Omit<HTMLAttributes<HTMLDivElement>, "ref"> {
  readonly count: number;
  /** The height of a row in pixels. */
  readonly rowHeight: number;
  /** The index of a row to scroll into view. */
  readonly reveal?: number | undefined;
  readonly render: (place: number) => ComponentChildren;
  /** The header above the rows, which scrolls sideways with them. */
  readonly head?: ComponentChildren;
}

/** A list of rows of equal height, which renders only the visible ones. */
export function VirtualRows({ count, rowHeight, reveal, render, head, ...rest }: VirtualRowsOptions): JSX.Element {
  const scroller = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(0);
  const whole = count * rowHeight;
  // If the list is higher than browsers allow, each pixel represents several.
  const scale = Math.max(1, whole / highest);
  useLayoutEffect(() => {
    const { current } = scroller;
    if (current === null) return undefined;
    const observer = new ResizeObserver(() => setHeight(current.clientHeight));
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  const offset = top * scale;
  const first = Math.max(0, Math.min(count - 1, Math.floor(offset / rowHeight) - spare));
  const last = Math.min(count, Math.ceil((offset + height) / rowHeight) + spare);
  useLayoutEffect(() => {
    const { current } = scroller;
    if (current === null || reveal === undefined || height === 0) return;
    const room = current.clientHeight - (head === undefined ? 0 : rowHeight);
    const [from, to] = [(reveal * rowHeight) / scale, ((reveal + 1) * rowHeight) / scale];
    const [above, below] = [current.scrollTop - from, to - (current.scrollTop + room)];
    if (above <= 0 && below <= 0) return;
    // A nearby row scrolls by one row; a distant one comes to the middle.
    const isFar = Math.max(above, below) > room / 4;
    current.scrollTop = isFar ? from - room / 2 : above > 0 ? from : to - room;
  }, [reveal, height, rowHeight, scale, head === undefined]);
  const places = Array.from({ length: Math.max(0, last - first) }, (_, index) => first + index);
  return (
    <div {...rest} ref={scroller} onScroll={({ currentTarget }) => setTop(currentTarget.scrollTop)}>
      {head}
      <div class="whole" role="presentation" style={{ height: `${Math.min(whole, highest)}px` }}>
        <div
          class="visible"
          role="presentation"
          style={{ transform: `translateY(${first * rowHeight - (offset - top)}px)` }}
        >
          {places.map((place) => render(place))}
        </div>
      </div>
    </div>
  );
}
