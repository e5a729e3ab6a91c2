/** The interface of every command of the command line; main.ts lists the commands. */

export interface Command {
  /** The text of `--help`. */
  readonly usage: string;
  /** Runs with the arguments after the name; resolves with the exit code. */
  run(args: readonly string[]): Promise<number>;
}
