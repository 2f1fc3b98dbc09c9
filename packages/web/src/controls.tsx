import type { ComponentChildren, JSX, TargetedSubmitEvent } from "preact";

/** A handler that does something when a form is submitted, which stays in the page. */
export function submits(
  act: (form: HTMLFormElement) => void | Promise<void>,
): (event: TargetedSubmitEvent<HTMLFormElement>) => void {
  return (event) => {
    event.preventDefault();
    void act(event.currentTarget);
  };
}

/** A handler that does something on Ctrl+Enter: in a text of several lines, Enter alone is a line break. */
export function onControlEnter(act: () => void | Promise<void>): (event: KeyboardEvent) => void {
  return ({ key, ctrlKey, metaKey }) => {
    if (key === "Enter" && (ctrlKey || metaKey)) void act();
  };
}

interface RadiosOptions<Value extends string> {
  readonly legend: string;
  /** The name of the group in its form. */
  readonly name: string;
  readonly choices: readonly (readonly [value: Value, words: string])[];
  readonly chosen: Value;
  readonly onChoose: (value: Value) => void;
}

/** A choice of which all possibilities show. */
export function Radios<Value extends string>({
  legend,
  name,
  choices,
  chosen,
  onChoose,
}: RadiosOptions<Value>): JSX.Element {
  return (
    <fieldset class="modes">
      <legend class="unseen">{legend}</legend>
      {choices.map(([value, words]) => (
        <label key={value}>
          <input type="radio" name={name} checked={value === chosen} onChange={() => onChoose(value)} /> {words}
        </label>
      ))}
    </fieldset>
  );
}

/** The options of a menu, with the texts that show. */
export function Options({
  of,
}: {
  readonly of: readonly (readonly [value: string | number, text: string])[];
}): JSX.Element {
  return (
    <>
      {of.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </>
  );
}

interface SuggestionsOptions {
  /** The id of a suggestion without its place; the list has its plural. */
  readonly id: string;
  readonly shown: readonly string[];
  readonly highlighted: number;
  readonly onAccept: (suggestion: string) => void;
  readonly render: (suggestion: string) => ComponentChildren;
}

/** What fits at the caret of a text. The text keeps the focus, and its keys choose: a press on a suggestion must not take it away. */
export function Suggestions({ id, shown, highlighted, onAccept, render }: SuggestionsOptions): JSX.Element {
  return (
    <div id={`${id}s`} role="listbox" aria-label="Suggestions" hidden={shown.length === 0}>
      {shown.map((suggestion, place) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: see above
        <div
          key={suggestion}
          id={`${id}-${place}`}
          role="option"
          aria-selected={place === highlighted}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onAccept(suggestion)}
        >
          {render(suggestion)}
        </div>
      ))}
    </div>
  );
}

/** The suggestion that an arrow key highlights. The text itself, at -1, comes before the first one and after the last one. */
export function nextSuggestion(highlighted: number, key: "ArrowDown" | "ArrowUp", count: number): number {
  const step = key === "ArrowDown" ? 1 : -1;
  return ((highlighted + 1 + step + count + 1) % (count + 1)) - 1;
}
