import { ExactNumber } from "@parlance/mcp/jsonrpc";
import { pointerToken } from "@parlance/mcp/protocol";
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Options } from "../controls.js";
import { nameText, proseText } from "../format.js";
import type { PageFault } from "../protocol.js";
import {
  type Field,
  fieldOf,
  isGroup,
  type Member,
  objectOf,
  readText,
  resolved,
  startOf,
  Unreadable,
} from "./fields.js";

type Schema = Readonly<Record<string, unknown>>;

interface FormOptions {
  /** The root schema, from which references are resolved. */
  readonly root: Schema;
  /** The faults found by the command. */
  readonly faults: readonly PageFault[];
  /** Completes a text. Default: no completion. */
  readonly suggest?: ((name: string, value: string) => Promise<readonly string[]>) | undefined;
  /** The place of the value, as a JSON pointer. */
  readonly path: string;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

interface ValueOptions extends FormOptions, Member {}

interface MembersOptions extends FormOptions {
  readonly members: readonly Member[];
}

/** The fields of an object. */
export function Members({ members, path, value, onChange, ...form }: MembersOptions): JSX.Element {
  const known = isGroup(value) ? value : {};
  return (
    <>
      {members.map(({ name, schema, isRequired }) => (
        <Value
          {...form}
          key={name}
          schema={schema}
          path={`${path}/${pointerToken(name)}`}
          name={name}
          isRequired={isRequired}
          value={Object.hasOwn(known, name) ? known[name] : undefined}
          onChange={(next) => onChange(objectOf(Object.entries({ ...known, [name]: next })))}
        />
      ))}
    </>
  );
}

function Value(options: ValueOptions): JSX.Element {
  const { schema: written, root, path, name, isRequired, value, faults } = options;
  const schema = resolved(written, root);
  const field = fieldOf(schema);
  // References to it are separated by spaces.
  const id = `argument${path.replace(/[^\w/]/g, (character) => `-${character.charCodeAt(0)}-`)}`;
  const own = value instanceof Unreadable ? [value.says] : [];
  const said = [...own, ...faults.filter((fault) => fault.path === path).map(({ message }) => message)];
  const parts = { id, schema, field, said };
  const isNested = (field.kind === "group" || field.kind === "list") && !(value instanceof Unreadable);
  return (
    <div class={`argument ${said.length > 0 ? "faulty" : ""}`}>
      <div class="name">
        {isNested ? <span id={id}>{nameText(name)}</span> : <label for={id}>{nameText(name)}</label>}
        <span class="type">
          {typeWords(schema, field)}
          {isRequired ? "" : ", optional"}
        </span>
      </div>
      {typeof schema.description === "string" && <p class="says">{proseText(schema.description)}</p>}
      {isNested ? <Nested {...options} {...parts} /> : <Control {...options} {...parts} />}
      {said.length > 0 && (
        <p class="fault" id={`${id}-fault`}>
          {proseText(said.join("; "))}
        </p>
      )}
    </div>
  );
}

interface PartOptions extends ValueOptions {
  readonly id: string;
  readonly field: Field;
  readonly said: readonly string[];
}

function Control({ id, name, field, schema, isRequired, value, onChange, said, suggest }: PartOptions): JSX.Element {
  const common = {
    id,
    "aria-invalid": said.length > 0,
    "aria-describedby": said.length > 0 ? `${id}-fault` : undefined,
  };
  if (field.kind === "choice" || field.kind === "boolean") {
    const choices = field.kind === "choice" ? field.choices : [true, false];
    const chosen = choices.findIndex((each) => JSON.stringify(each) === JSON.stringify(value));
    return (
      <select
        {...common}
        value={chosen}
        onChange={({ currentTarget }) => onChange(choices[Number(currentTarget.value)])}
      >
        {(!isRequired || chosen < 0) && <option value={-1}>not given</option>}
        <Options of={choices.map((each, index) => [index, choiceText(each, index, schema)])} />
      </select>
    );
  }
  const text = value instanceof Unreadable ? value.text : undefined;
  if (field.kind === "text")
    return (
      <TextBox
        {...common}
        long={schema.format === undefined && (typeof value === "string" ? value : "").includes("\n")}
        placeholder={placeholderOf(schema)}
        value={text ?? (typeof value === "string" ? value : "")}
        suggest={suggest && ((text) => suggest(name, text))}
        onInput={(next) => onChange(next === "" && !isRequired ? undefined : next)}
      />
    );
  if (field.kind === "number" || field.kind === "integer")
    return (
      <TextBox
        {...common}
        inputMode="decimal"
        placeholder={placeholderOf(schema)}
        value={text ?? (typeof value === "number" || value instanceof ExactNumber ? String(value) : "")}
        onInput={(next) => onChange(readText(field.kind === "integer" ? "integer" : "number", next))}
      />
    );
  return (
    <TextBox
      {...common}
      long
      placeholder="JSON"
      value={text ?? (value === undefined ? "" : ExactNumber.stringify(value, 2))}
      onInput={(next) => onChange(readText("json", next))}
    />
  );
}

interface TextBoxOptions {
  readonly id: string;
  readonly "aria-invalid": boolean;
  readonly "aria-describedby": string | undefined;
  readonly inputMode?: "decimal";
  readonly long?: boolean;
  readonly placeholder?: string | undefined;
  readonly value: string;
  readonly onInput: (text: string) => void;
  readonly suggest?: ((text: string) => Promise<readonly string[]>) | undefined;
}

/** Milliseconds without a keystroke before a text is completed. */
const completedAfter = 150;

function TextBox({ long = false, value, onInput, suggest, ...others }: TextBoxOptions): JSX.Element {
  const [values, setValues] = useState<readonly string[]>([]);
  const isEntered = useRef(false);
  useEffect(() => {
    if (suggest === undefined || !isEntered.current) return undefined;
    // Without completions, this is an ordinary text field.
    const timer = setTimeout(() => void suggest(value).then(setValues, () => undefined), completedAfter);
    return () => clearTimeout(timer);
  }, [value]);
  const shared = { autocomplete: "off", spellcheck: false, value } as const;
  const take = (text: string): void => {
    isEntered.current = true;
    onInput(text);
  };
  if (long) {
    const rows = Math.min(12, Math.max(2, value.split("\n").length));
    return <textarea {...others} {...shared} rows={rows} onInput={(event) => take(event.currentTarget.value)} />;
  }
  const list = `${others.id}-values`;
  return (
    <>
      <input {...others} {...shared} type="text" list={list} onInput={(event) => take(event.currentTarget.value)} />
      <datalist id={list}>
        {values.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
    </>
  );
}

/** The field of an array or an object, which may be optional. */
function Nested({ id, field, schema, root, path, isRequired, value, onChange, ...form }: PartOptions): JSX.Element {
  if (value === undefined)
    return (
      <button type="button" aria-describedby={id} onClick={() => onChange(startOf(schema, root, true))}>
        add
      </button>
    );
  const shared = { root, faults: form.faults, suggest: form.suggest };
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  return (
    <fieldset aria-labelledby={id}>
      {field.kind === "group" && (
        <Members {...shared} members={field.members} path={path} value={value} onChange={onChange} />
      )}
      {field.kind === "list" &&
        items.map((item, index) => (
          <div class="item" key={index}>
            <Value
              {...shared}
              schema={field.items}
              path={`${path}/${index}`}
              name={`${index + 1}`}
              isRequired
              value={item}
              onChange={(next) => onChange(items.with(index, next))}
            />
            <button
              type="button"
              aria-label={`remove ${index + 1}`}
              onClick={() => onChange(items.toSpliced(index, 1))}
            >
              remove
            </button>
          </div>
        ))}
      <div class="buttons">
        {field.kind === "list" && (
          <button type="button" onClick={() => onChange([...items, itemOf(field.items, root)])}>
            add one
          </button>
        )}
        {!isRequired && (
          <button type="button" onClick={() => onChange(undefined)}>
            leave out
          </button>
        )}
      </div>
    </fieldset>
  );
}

/** The initial value of an added item, because items of a list must have values. */
function itemOf(schema: Schema, root: Schema): unknown {
  const start = startOf(schema, root, true);
  if (start !== undefined) return start;
  return fieldOf(resolved(schema, root)).kind === "text" ? "" : new Unreadable("", "no value yet");
}

function choiceText(value: unknown, index: number, { enumNames }: Schema): string {
  const names: readonly unknown[] = Array.isArray(enumNames) ? enumNames : [];
  const name = names[index];
  return nameText(typeof name === "string" ? name : typeof value === "string" ? value : JSON.stringify(value));
}

function typeWords({ type, format, minimum, maximum }: Schema, { kind }: Field): string {
  const words =
    typeof format === "string" ? nameText(format) : typeof type === "string" ? type : kind === "json" ? "JSON" : kind;
  if (typeof minimum === "number" && typeof maximum === "number") return `${words} ${minimum} to ${maximum}`;
  if (typeof minimum === "number") return `${words} from ${minimum}`;
  return typeof maximum === "number" ? `${words} to ${maximum}` : words;
}

function placeholderOf({ examples }: Schema): string | undefined {
  const [example]: readonly unknown[] = Array.isArray(examples) ? examples : [];
  return example === undefined ? undefined : nameText(typeof example === "string" ? example : JSON.stringify(example));
}
