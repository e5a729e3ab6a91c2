/** Runs jobs in several lanes beside each other, and says of each how it ended. */

import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { NODE_FLAGS } from '../node-flags.ts';
import type { Assignment, FileReport } from './assignment.ts';
import { NO_MORE, TAP_DESCRIPTOR } from './assignment.ts';
import type { Job, Schedule } from './schedule.ts';

const LANE = join(import.meta.dirname, 'lane.js');
/**
 * Room for young objects, in MB for each of two halves. With V8's own 16 a lane spends a tenth of
 * its time in collecting them.
 */
const YOUNG_SPACE = '--max-semi-space-size=64';
/** A lane that has nothing more to do closes its browser and stores in this time, or is killed. */
const CLOSE_MS_MAX = 20_000;
/** The result of a file, after which its output is whole. */
const RESULT = /^(not )?ok \d/;

/** How a file ended: its report and what it wrote as TAP, indented as a subtest's. */
export interface Ended {
  readonly report: FileReport;
  readonly lines: readonly string[];
}

export interface LaneOptions {
  readonly count: number;
  readonly timeoutMs: number;
  readonly environment: NodeJS.ProcessEnv;
  /** Called as each file ends. False: no further file is begun. */
  readonly onEnded: (ended: Ended) => boolean;
}

/** Runs all jobs of the schedule; a signal ends the lanes. */
export class Lanes {
  readonly #running = new Set<Lane>();
  readonly #schedule: Schedule;
  readonly #options: LaneOptions;
  #isStopped = false;

  constructor(schedule: Schedule, options: LaneOptions) {
    this.#schedule = schedule;
    this.#options = options;
  }

  async run(): Promise<void> {
    await Promise.all(
      Array.from({ length: this.#options.count }, (_, lane) => this.#runLane(lane)),
    );
  }

  stop(signal: NodeJS.Signals): void {
    this.#isStopped = true;
    for (const lane of this.#running) lane.kill(signal);
  }

  async #runLane(index: number): Promise<void> {
    let lane: Lane | null = null;
    for (;;) {
      const job = this.#isStopped ? null : this.#schedule.next(index);
      if (job === null) break;
      if (job.isAlone) {
        await this.#runAlone(job);
        continue;
      }
      lane ??= this.#open();
      const ended = await lane.run(this.#assign(job));
      if (!this.#options.onEnded(ended)) this.#isStopped = true;
      if (ended.report.fail > 0 || ended.report.left.length > 0) {
        // The leftovers of a failed test must not spoil the next file.
        await this.#close(lane);
        lane = null;
      }
    }
    if (lane !== null) await this.#close(lane);
  }

  async #runAlone(job: Job): Promise<void> {
    const lane = this.#open();
    const ended = await lane.run(this.#assign(job));
    if (!this.#options.onEnded(ended)) this.#isStopped = true;
    await this.#close(lane);
  }

  #assign({ file, stores }: Job): Assignment {
    return { file, stores, timeoutMs: this.#options.timeoutMs };
  }

  #open(): Lane {
    const lane = new Lane(this.#options.environment);
    this.#running.add(lane);
    return lane;
  }

  async #close(lane: Lane): Promise<void> {
    await lane.close();
    this.#running.delete(lane);
  }
}

class Lane {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  #lines: string[] = [];
  #onLine: (line: string) => void = () => undefined;

  constructor(environment: NodeJS.ProcessEnv) {
    this.#child = fork(LANE, [], {
      stdio: ['ignore', 2, 'inherit', 'ipc', 'pipe'],
      execArgv: [...NODE_FLAGS, YOUNG_SPACE],
      env: environment,
    });
    this.#exited = once(this.#child, 'close');
    const tap = this.#child.stdio[TAP_DESCRIPTOR] as Readable;
    createInterface({ input: tap }).on('line', (line) => this.#onLine(line));
  }

  run(assignment: Assignment): Promise<Ended> {
    const { file, timeoutMs } = assignment;
    const startMs = performance.now();
    this.#lines = [];
    return new Promise((resolve) => {
      let report: FileReport | null = null;
      let isWhole = false;
      const end = (report: FileReport): void => {
        clearTimeout(watch);
        this.#onLine = () => undefined;
        this.#child.removeAllListeners('message');
        this.#child.off('close', onClose);
        resolve({ report, lines: this.#lines });
      };
      // tap ends a test that takes too long; this is for a file that lets nothing else run.
      const watch = setTimeout(() => this.kill('SIGKILL'), timeoutMs + CLOSE_MS_MAX);
      this.#onLine = (line) => {
        if (line.startsWith('    ')) this.#lines.push(line);
        if (!RESULT.test(line)) return;
        isWhole = true;
        if (report !== null) end(report);
      };
      // tap sends messages of its own.
      this.#child.on('message', (message: { readonly report?: FileReport }) => {
        report = message.report ?? null;
        if (isWhole && report !== null) end(report);
      });
      const onClose = (): void => {
        const { exitCode, signalCode } = this.#child;
        this.#lines = this.#lines.map((line) => `    # ${line}`);
        this.#lines.push(
          `    not ok 1 - the process ended (${exitCode ?? signalCode})`,
          '    1..1',
        );
        const counts = { total: 1, pass: 0, fail: 1, skip: 0, todo: 0, cpuMs: 0, left: [] };
        end({ file, ms: performance.now() - startMs, ...counts });
      };
      this.#child.once('close', onClose);
      if (this.#child.connected) this.#child.send(assignment);
      else onClose();
    });
  }

  async close(): Promise<void> {
    if (this.#child.connected) this.#child.send(NO_MORE);
    const watch = setTimeout(() => this.kill('SIGKILL'), CLOSE_MS_MAX);
    await this.#exited;
    clearTimeout(watch);
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }
}
