// Starts the command `birk`, without a shell, and collects what it writes.

import { spawn } from "node:child_process";

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Listening {
  /** Hears every line of standard error, and keeps it out of `stderr` by answering true. */
  onErrorLine?: (line: string) => boolean;
  /** Takes a function that ends the command. */
  onStart?: (stop: () => void) => void;
}

/** How long a command may take to report after it was interrupted. */
const GRACE_MS = 3000;

/** Runs a command to its end. Rejects where it cannot be started, with a sentence that says why and what to do. */
export function run(command: string, options: string[], folder: string, listening: Listening = {}): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, options, { cwd: folder, stdio: ["ignore", "pipe", "pipe"], windowsHide: true });
    let [stdout, stderr, rest] = ["", "", ""];
    const hear = (line: string) => {
      if (line && !listening.onErrorLine?.(line)) stderr += `${line}\n`;
    };
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      lines.forEach(hear);
    });
    child.on("error", (error: NodeJS.ErrnoException) => reject(new Error(notStarted(command, error))));
    child.on("close", (code) => {
      hear(rest);
      resolve({ code, stdout, stderr });
    });
    listening.onStart?.(() => {
      // An interrupted search still reports what it covered.
      child.kill("SIGINT");
      setTimeout(() => child.kill("SIGKILL"), GRACE_MS).unref();
    });
  });
}

/** Why a command could not be started, and the next step. */
export function notStarted(command: string, error: NodeJS.ErrnoException): string {
  const reason =
    { ENOENT: "there is no such command", EACCES: "it may not be executed" }[error.code ?? ""] ?? error.message;
  return `\`${command}\` could not be started: ${reason}. Install Birk, or set \`birk.path\` to where it is.`;
}
