/**
 * A client in a process of its own: its CPU is that process's, and what it makes hot or patches
 * stays there. It lives as long as the scenario, so that only its first round is cold.
 */

import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { ProviderCredential } from '../../src/providers/providers.ts';
import type { Lifetime } from '../../test/support/lifetime.ts';
import type { Sink } from '../sinks/sink.ts';
import type { FlowRound, FlowTimes } from './flow.ts';
import type { SendingName } from './sendings.ts';

/** The request to the process, for each round. */
export interface Task {
  readonly client: SendingName;
  readonly sink: Sink<ProviderCredential>;
  readonly times: FlowTimes;
}

/** The answer of the process. */
export type Report = { readonly round: FlowRound } | { readonly error: string };

const ENTRY = join(import.meta.dirname, 'client-process-entry.js');

export class ClientProcess {
  readonly client: SendingName;
  readonly #child: ChildProcess;

  constructor(stage: Lifetime, client: SendingName) {
    this.client = client;
    this.#child = fork(ENTRY, { execArgv: ['--enable-source-maps'], serialization: 'advanced' });
    stage.teardown(() => this.#end());
  }

  async measure(
    { name, host, port, ca, credential, authorization, tokens }: Sink<ProviderCredential>,
    times: FlowTimes,
  ): Promise<FlowRound> {
    const sink = { name, host, port, ca, credential, authorization, tokens };
    const task: Task = { client: this.client, sink, times };
    this.#child.send(task);
    const report = await this.#report();
    if ('error' in report) throw new Error(`${this.client} to ${name}: ${report.error}`);
    return report.round;
  }

  async #report(): Promise<Report> {
    const over = new AbortController();
    const { signal } = over;
    try {
      return await Promise.race([
        once(this.#child, 'message', { signal }).then(([report]) => report as Report),
        once(this.#child, 'exit', { signal }).then(() => ({ error: 'its process has ended' })),
      ]);
    } finally {
      over.abort();
    }
  }

  async #end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }
}
