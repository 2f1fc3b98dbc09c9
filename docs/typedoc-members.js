// Keeps the reference to what users write and read. typedoc-plugin-missing-exports adds every type that a signature names, such as the
// options of a function; the classes of the engine that come with them, and all types of the tools' package, are removed again.
import { Comment, CommentTag, Converter, ReflectionKind } from "typedoc";

/** Classes that nobody creates, and whose methods users call: `client.tools.call`. */
const called = /^(?:Client|Listed)[A-Z]/;

/** Types whose headings the renderer cannot tell from those of `Client.call` and `Problem.subject`. */
const ambiguous = new Set(["ClientCall", "ProblemSubject"]);

/** The heading of types that cannot be imported: readers have to know it before the compiler says so. */
const notExported = "Not exported";

/** @param {import("typedoc").Application} app */
export function load({ converter }) {
  const exported = new Set();
  const membersOf = ({ project }) =>
    project.children.flatMap(({ name, children = [] }) => children.map((member) => ({ module: name, member })));
  const isWanted = ({ module, member }) =>
    exported.has(member) ||
    (module !== "wire" &&
      !ambiguous.has(member.name) &&
      (!member.kindOf(ReflectionKind.Class) || called.test(member.name)));

  // Before the other plugin, then after it.
  converter.on(
    Converter.EVENT_RESOLVE_BEGIN,
    (context) => {
      for (const { member } of membersOf(context)) exported.add(member);
    },
    Number.MAX_SAFE_INTEGER,
  );
  converter.on(
    Converter.EVENT_RESOLVE_BEGIN,
    (context) => {
      for (const each of membersOf(context)) {
        const { member } = each;
        if (!isWanted(each)) context.project.removeReflection(member);
        else if (!exported.has(member)) {
          member.comment ??= new Comment();
          // A link leads far below the heading.
          member.comment.summary.unshift({ kind: "text", text: `*${notExported}.* ` });
          member.comment.blockTags.push(new CommentTag("@group", [{ kind: "text", text: notExported }]));
        }
      }
    },
    Number.MIN_SAFE_INTEGER,
  );
}
