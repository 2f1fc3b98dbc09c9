import {
  anyChecker,
  anyOfChecker,
  arrayChecker,
  booleanChecker,
  type Checker,
  literalChecker,
  mapChecker,
  numberChecker,
  objectChecker,
  optionalChecker,
  stringChecker,
  taggedChecker,
} from "./checker.js";
import type { Literal, Members, ObjectShape, Shape, TaggedShape, Types } from "./shape.js";

/**
 * Compiles shapes to checkers. A type must not contain itself, so the time and depth of a check depend on the shape
 * alone, never on a peer's value.
 */
export class ShapeCompiler {
  readonly #types: Types;
  readonly #checkers = new Map<string, Checker>();
  /** The types that are being compiled, outermost first. */
  readonly #path: string[] = [];

  constructor(types: Types) {
    this.#types = types;
  }

  /** @throws Error if a type is missing, contains itself, or cannot be distinguished from another by its tag */
  compile(shape: Shape): Checker {
    switch (shape.kind) {
      case "any":
        return anyChecker;
      case "boolean":
        return booleanChecker;
      case "string":
        return stringChecker(shape.format);
      case "number":
        return numberChecker(shape);
      case "literal":
        return literalChecker(shape.values);
      case "array":
        return arrayChecker(this.compile(shape.of), shape.most);
      case "map":
        return mapChecker(this.compile(shape.of));
      case "object":
        return this.#object(shape);
      case "tagged":
        return this.#tagged(shape);
      case "anyOf":
        return anyOfChecker(
          shape.expected,
          shape.shapes.map((choice) => this.compile(choice)),
        );
      case "optional":
        return optionalChecker(this.compile(shape.shape));
      case "ref":
        return this.#named(shape.name);
    }
  }

  #object(shape: ObjectShape): Checker {
    const members = Object.entries(this.#membersOf(shape));
    return objectChecker(
      new Map(members.map(([name, member]): [string, Checker] => [name, this.compile(member)])),
      members.flatMap(([name, member]) => (member.kind === "optional" ? [] : name)),
    );
  }

  #tagged({ tag, choices }: TaggedShape): Checker {
    const checkers = new Map<Literal | undefined, Checker>();
    for (const name of choices) {
      const checker = this.#named(name);
      for (const value of this.#tagsOf(name, this.#type(name), tag)) {
        if (checkers.has(value)) throw new Error(`The shape ${name} has the ${tag} ${value} of another choice`);
        checkers.set(value, checker);
      }
    }
    return taggedChecker(tag, checkers);
  }

  #named(name: string): Checker {
    const known = this.#checkers.get(name);
    if (known !== undefined) return known;
    const shape = this.#type(name);
    const checker = this.#entering(name, () => this.compile(shape));
    this.#checkers.set(name, checker);
    return checker;
  }

  #entering<Result>(name: string, visit: () => Result): Result {
    if (this.#path.includes(name)) throw new Error(`The shape ${name} contains itself: ${this.#path.join(" > ")}`);
    this.#path.push(name);
    const result = visit();
    this.#path.pop();
    return result;
  }

  #type(name: string): Shape {
    const shape = Object.hasOwn(this.#types, name) ? this.#types[name] : undefined;
    if (shape === undefined)
      throw new Error(`There is no shape ${name}, which ${this.#path.at(-1) ?? "a message"} needs`);
    return shape;
  }

  /** The members of an object, including those of its bases. */
  #membersOf({ bases, members }: ObjectShape): Members {
    const inherited = bases.map((name) => {
      const base = this.#type(name);
      if (base.kind !== "object") throw new Error(`The shape ${name} is no object, so nothing can extend it`);
      return this.#entering(name, () => this.#membersOf(base));
    });
    return Object.assign({}, ...inherited, members) as Members; // All sources are `Members`.
  }

  /** The literals that a shape allows for the tag member; undefined if the member is optional. */
  #tagsOf(name: string, shape: Shape, tag: string): readonly (Literal | undefined)[] {
    if (shape.kind === "ref") return this.#tagsOf(name, this.#type(shape.name), tag);
    if (shape.kind === "anyOf") return [...new Set(shape.shapes.flatMap((choice) => this.#tagsOf(name, choice, tag)))];
    const member = shape.kind === "object" ? this.#membersOf(shape)[tag] : undefined;
    if (member?.kind === "literal") return member.values;
    if (member?.kind === "optional" && member.shape.kind === "literal") return [undefined, ...member.shape.values];
    throw new Error(`The shape ${name} has no literal at ${tag}, by which it could be told from others`);
  }
}
