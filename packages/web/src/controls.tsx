import type { JSX, TargetedSubmitEvent } from "preact";

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
