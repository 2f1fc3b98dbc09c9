/** The exit codes; `exitCodeHelp` explains them to users. */
export const exitCodes = {
  clean: 0,
  usage: 1,
  violations: 2,
  unreachable: 3,
  timeout: 4,
  toolFailed: 5,
  damaged: 6,
  /** 128 plus the number of the signal, as in shells. */
  interrupted: 130,
  terminated: 143,
} as const;

/** The table of exit codes for a help page. */
export const exitCodeHelp = `Exit codes:
  0  success
  1  the command line is wrong
  2  the server broke the protocol (call, read, …: and sent no result)
  3  the server could not be started or reached, or was lost
  4  no answer in time
  5  the tool failed: isError, or an error instead of a result (call)`;
