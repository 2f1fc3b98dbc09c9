/** The name of an environment variable, with an underscore. Codes of Node begin with ERR_. */
const variableName = /\b(?!ERR_)[A-Z][A-Z\d]*(?:_[A-Z\d]+)+\b/;

/** Words of messages about something missing. */
const missing =
  /missing|required|requires|not set|unset|must be set|must set|please set|not defined|undefined|not found|not provided|must provide|please provide|not configured|KeyError/i;

/** The remedy if stderr names a missing variable that is not set here either. */
export function missingVariableRemedy(stderr: readonly string[]): string | undefined {
  const names = stderr.flatMap((line) => (missing.test(line) ? (variableName.exec(line) ?? []) : []));
  const name = names.find((each) => process.env[each] === undefined);
  if (name === undefined) return undefined;
  return `the server needs the variable ${name}: --env ${name}=<value> gives it; in the configuration of a host it stands under "env"`;
}
