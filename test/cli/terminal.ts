import { spawn, spawnSync } from "node:child_process";
import { main, type Ran } from "./run.js";

/** Whether this machine can make pseudo terminals: Python makes them, and is on most. */
export const hasTerminals: boolean =
  process.platform !== "win32" && spawnSync("python3", ["-c", "import pty"]).status === 0;

/** Runs a command in a pseudo terminal of 100 columns, passes on what we write, and ends with its exit code. */
const program = `
import fcntl, os, pty, select, struct, sys, termios
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
inputs = [0, terminal]
while terminal in inputs:
    for ready in select.select(inputs, [], [])[0]:
        try:
            data = os.read(ready, 65536)
        except OSError:
            data = b""
        if not data:
            inputs.remove(ready)
        else:
            os.write(terminal if ready == 0 else 1, data)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) & 255)
`;

const controls = new RegExp(`${String.fromCharCode(27)}\\[[0-9;?]*[A-Za-z]`, "g");

/** A run of the command in a terminal. */
export interface TerminalRun {
  /** Waits for a text that was not waited for before, then types a line. */
  answer(prompt: string, line: string): Promise<void>;
  /** Waits for a text, then types these characters and nothing else. */
  type(prompt: string, characters: string): Promise<void>;
  /** stdout is all that was on the terminal. */
  readonly ended: Promise<Ran>;
}

/** Starts the built command, or another program of ours, in a pseudo terminal, where a person would sit. */
export function inTerminal(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  file: string = main,
): TerminalRun {
  const child = spawn("python3", ["-c", program, process.execPath, file, ...args], {
    env: { ...process.env, NO_COLOR: "1", TERM: "xterm", ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let raw = "";
  let shown = "";
  let seen = 0;
  let stderr = "";
  let look: () => void = () => undefined;
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    raw += text;
    // Where the cursor goes is of no interest here.
    shown = raw.replaceAll(controls, "").replaceAll("\r\n", "\n");
    look();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const ended = new Promise<Ran>((resolve) => {
    child.on("close", (code) => resolve({ code, stdout: shown, stderr }));
  });
  const until = (prompt: string): Promise<void> =>
    new Promise((resolve, reject) => {
      look = () => {
        const at = shown.indexOf(prompt, seen);
        if (at < 0) return;
        seen = at + prompt.length;
        look = () => undefined;
        resolve();
      };
      void ended.then(() => reject(new Error(`it ended before ${JSON.stringify(prompt)}:\n${shown}${stderr}`)));
      look();
    });
  const type = async (prompt: string, characters: string): Promise<void> => {
    await until(prompt);
    child.stdin.write(characters);
  };
  return { ended, type, answer: (prompt, line) => type(prompt, `${line}\r`) };
}
