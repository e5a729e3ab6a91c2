/** Runs a command that is killed (kill -9) in the moment in which it writes a line. */

import type { Lifetime } from './lifetime.ts';
import { NODE_FLAGS } from './node-flags.ts';
import { runCommand } from './processes.ts';

type Environment = Readonly<Record<string, string>>;

/** `line`: what the line on its standard error has in it. Answers as `runCommand` does. */
export function runKilledAt(
  t: Lifetime,
  line: string,
  args: readonly string[],
  environment: Environment,
): ReturnType<typeof runCommand> {
  const code = `
    const { write } = process.stderr;
    process.stderr.write = function (text, ...rest) {
      if (String(text).includes(${JSON.stringify(line)})) process.kill(process.pid, 'SIGKILL');
      return write.call(this, text, ...rest);
    };`;
  const preloaded = ['--import', `data:text/javascript,${encodeURIComponent(code)}`];
  return runCommand(t, args, environment, { nodeFlags: [...NODE_FLAGS, ...preloaded] });
}
