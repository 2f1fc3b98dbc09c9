/** Members of objects of other libraries, each with its replacement. */
export type Remedies = Readonly<Record<string, string>>;

/**
 * A prototype whose members throw a TypeError that names their replacement. The compiler rejects such a member; in JavaScript the
 * error would be that undefined is not a function, or there would be no error.
 *
 * @param owner names the object in the message, e.g. `server`
 * @param methods throw when called, so that code may test for them and assign them
 * @param values throw when read or assigned
 */
export function foreignMembers(owner: string, methods: Remedies, values: Remedies = {}): object {
  const refuse = (name: string, remedy: string | undefined): never => {
    throw new TypeError(`There is no ${owner}.${name}: ${remedy}`);
  };
  const descriptors: PropertyDescriptorMap = {};
  for (const [name, remedy] of Object.entries(methods)) {
    descriptors[name] = { value: () => refuse(name, remedy), writable: true, configurable: true };
  }
  for (const [name, remedy] of Object.entries(values)) {
    const refused = (): never => refuse(name, remedy);
    descriptors[name] = { get: refused, set: refused, configurable: true };
  }
  return Object.defineProperties({}, descriptors);
}
