/**
 * A load that opens a connection for each request, as phones do that register once per start. wrk
 * and autocannon keep theirs. It runs in a process of its own, for the answers of a busy loop come
 * late.
 */

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Lifetime } from '../../test/support/lifetime.ts';
import type { Load, Round, Seen, Target } from './load.ts';

/** The task of the process, which answers `Seen`. */
export interface NewConnectionsTask {
  readonly target: Target;
  readonly round: Round;
  /** Each connection after the first of a caller resumes the TLS session of the one before. */
  readonly isResuming: boolean;
}

const ENTRY = join(import.meta.dirname, 'new-connections-entry.js');

export const newConnections = (stage: Lifetime): Load => ({
  name: 'new connections',
  run: (target, round) => run(stage, { target, round, isResuming: false }),
});

/** For TLS only. */
export const resumedSessions = (stage: Lifetime): Load => ({
  name: 'resumed sessions',
  run: (target, round) => run(stage, { target, round, isResuming: true }),
});

async function run(stage: Lifetime, task: NewConnectionsTask): Promise<Seen> {
  const child = fork(ENTRY, { execArgv: ['--enable-source-maps'] });
  stage.teardown(() => child.kill('SIGKILL'));
  const exited = once(child, 'exit');
  child.send(task);
  const [seen] = await Promise.race([
    once(child, 'message') as Promise<[Seen]>,
    exited.then(([code]) => {
      throw new Error(`the load of new connections ended with ${code}`);
    }),
  ]);
  await exited;
  return seen;
}
