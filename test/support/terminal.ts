/** A terminal that remembers, an operator's context over given routes, and a publisher's. */

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fetchWithin } from '../../src/api/operator-door.ts';
import { operatorApi } from '../../src/cli/operator-api.ts';
import type { OperatorContext } from '../../src/cli/operator-command.ts';
import type { PublisherContext } from '../../src/cli/publisher/publisher-command.ts';
import type { Terminal } from '../../src/cli/terminal.ts';
import type { Route } from '../../src/http/handler.ts';

export interface RecordedContext extends OperatorContext {
  /** The context of a publisher without a profile. */
  readonly publisher: PublisherContext;
  readonly printed: string[];
  readonly complaints: string[];
  readonly notes: string[];
  /** The output that was written as data. */
  data(): string;
  /** How often a way to the engine was opened, less how often it was closed again. */
  openSessions(): number;
}

/** `routes`: the operator's. `around`: what comes between a command and them. */
export function recordedContext(
  routes: readonly Route[] = [],
  around: (ask: typeof fetch) => typeof fetch = (ask) => ask,
): RecordedContext {
  const printed: string[] = [];
  const complaints: string[] = [];
  const notes: string[] = [];
  let data = '';
  let sessions = 0;
  const terminal: Terminal = {
    print: (text) => void printed.push(text),
    complain: (text) => void complaints.push(text),
    note: (text) => void notes.push(text),
    write(text) {
      data += text;
      return Promise.resolve(true);
    },
    progress: { isTerminal: false, write: () => undefined },
  };
  const profilesPath = join(tmpdir(), 'tagcast-no-such-profiles.json');
  return {
    printed,
    complaints,
    notes,
    data: () => data,
    openSessions: () => sessions,
    terminal,
    publisher: { terminal, profilesPath, readDemo: async () => null, signals: process },
    open() {
      sessions += 1;
      return Promise.resolve({
        api: operatorApi(around(fetchWithin(routes))),
        close() {
          sessions -= 1;
          return Promise.resolve();
        },
      });
    },
  };
}
