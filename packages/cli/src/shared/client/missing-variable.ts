/** A name of a variable as environments have them; one word alone may be anything, and Node begins codes of errors so. */
const variableName = /\b(?!ERR_)[A-Z][A-Z\d]*(?:_[A-Z\d]+)+\b/;

/** Words with which programs say that something is not there. */
const missing =
  /missing|required|requires|not set|unset|must be set|must set|please set|not defined|undefined|not found|not provided|must provide|please provide|not configured|KeyError/i;

/** The remedy for a server that says, in lines of stderr, that a variable is missing, and that is not set here either. */
export function missingVariableRemedy(stderr: readonly string[]): string | undefined {
  const names = stderr.flatMap((line) => (missing.test(line) ? (variableName.exec(line) ?? []) : []));
  const name = names.find((each) => process.env[each] === undefined);
  if (name === undefined) return undefined;
  return `the server needs the variable ${name}: --env ${name}=<value> gives it; in the configuration of a host it stands under "env"`;
}
