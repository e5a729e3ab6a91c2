/** What the command line is made of: every command is one of these, and main.ts lists them. */

export interface Command {
  /** The text of `--help`. */
  readonly usage: string;
  /** Runs with the arguments after the name; resolves with the exit code. */
  run(args: readonly string[]): Promise<number>;
}
