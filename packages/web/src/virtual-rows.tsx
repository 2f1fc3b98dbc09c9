import type { ComponentChildren, HTMLAttributes, JSX, RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

/** Rows outside of the visible part, above and below. */
const spare = 8;

/** Higher elements are cut by browsers. */
const highest = 15_000_000;

interface VirtualRowsOptions extends Omit<HTMLAttributes<HTMLDivElement>, "ref"> {
  readonly count: number;
  /** Pixels of each row. */
  readonly rowHeight: number;
  /** A row that is to be visible. */
  readonly reveal?: number | undefined;
  readonly render: (place: number) => ComponentChildren;
  readonly element?: RefObject<HTMLDivElement | null>;
  /** Called with the places that are visible. */
  readonly onVisible?: (first: number, last: number) => void;
  /** The header above the rows, which scrolls sideways with them. */
  readonly head?: ComponentChildren;
}

/** A list of rows of one height, of which only those that are visible exist. */
export function VirtualRows({
  count,
  rowHeight,
  reveal,
  render,
  element,
  onVisible,
  head,
  ...rest
}: VirtualRowsOptions): JSX.Element {
  const own = useRef<HTMLDivElement>(null);
  const scroller = element ?? own;
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(0);
  const whole = count * rowHeight;
  // Of a list that is higher than browsers allow, each pixel stands for several.
  const scale = Math.max(1, whole / highest);
  useLayoutEffect(() => {
    const { current } = scroller;
    if (current === null) return undefined;
    const observer = new ResizeObserver(() => setHeight(current.clientHeight));
    observer.observe(current);
    return () => observer.disconnect();
  }, [scroller]);
  const offset = top * scale;
  const first = Math.max(0, Math.min(count - 1, Math.floor(offset / rowHeight) - spare));
  const last = Math.min(count, Math.ceil((offset + height) / rowHeight) + spare);
  useEffect(() => onVisible?.(first, last), [first, last, onVisible]);
  useLayoutEffect(() => {
    const { current } = scroller;
    if (current === null || reveal === undefined || height === 0) return;
    const room = current.clientHeight - (head === undefined ? 0 : rowHeight);
    const [from, to] = [(reveal * rowHeight) / scale, ((reveal + 1) * rowHeight) / scale];
    const [above, below] = [current.scrollTop - from, to - (current.scrollTop + room)];
    if (above <= 0 && below <= 0) return;
    // A step scrolls by a row; what is far away comes to the middle.
    const isFar = Math.max(above, below) > room / 4;
    current.scrollTop = isFar ? from - room / 2 : above > 0 ? from : to - room;
  }, [reveal, height, rowHeight, scale, scroller, head === undefined]);
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
