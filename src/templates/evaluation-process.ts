/**
 * A process that evaluates templates: started when needed, ended when idle, killed when it does not
 * answer. An expression that uses up its memory ends it, and not the engine.
 */

import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { EvaluationTask } from './evaluation.ts';
import { READY } from './evaluation.ts';
import type { Evaluated } from './sandbox.ts';

const ENTRY = fileURLToPath(new URL('./evaluation-entry.js', import.meta.url));
/**
 * The heap of it: a payload of a megabyte is some ten megabytes of objects.
 * @limit MB of heap of a process that evaluates templates → `400` of the push; the process ends
 */
const HEAP_MB_MAX = 64;
/**
 * It loads in a tenth of a second on an idle machine.
 * @limit a process that evaluates templates starts → `503`
 */
const STARTING_MS_MAX = 10_000;
/**
 * It notices by itself when its time is up, except inside one long call of the library.
 * @limit a process that evaluates templates answers after the time of its templates → killed
 */
const ANSWER_MS_MAX = 3_000;
/**
 * A publisher who uses templates sends again within this.
 * @limit a process that evaluates templates has nothing to do → ended
 */
const IDLE_MS_MAX = 60_000;

/** One result for each expression, or less: after the last one something ended the evaluation. */
type Answer =
  | { readonly kind: 'answered'; readonly evaluated: readonly Evaluated[] }
  /** The process could not be started. */
  | { readonly kind: 'unavailable'; readonly error: unknown };

export class EvaluationProcess {
  #child: ChildProcess | null = null;
  #idle: NodeJS.Timeout | null = null;

  /** One at a time. Never rejects. */
  async run(task: EvaluationTask): Promise<Answer> {
    if (this.#idle !== null) clearTimeout(this.#idle);
    // The system may have ended it while it had nothing to do.
    if (this.#child !== null && isOver(this.#child)) this.#child = null;
    try {
      this.#child ??= await start();
    } catch (error) {
      return { kind: 'unavailable', error };
    }
    const child = this.#child;
    hold(child);
    const evaluated = await answersOf(child, task);
    if (isOver(child)) this.#child = null;
    else this.#rest(child);
    return { kind: 'answered', evaluated };
  }

  close(): void {
    if (this.#idle !== null) clearTimeout(this.#idle);
    this.#child?.kill('SIGKILL');
    this.#child = null;
  }

  #rest(child: ChildProcess): void {
    letGo(child);
    this.#idle = setTimeout(() => this.close(), IDLE_MS_MAX).unref();
  }
}

/** Whether it has ended, or was killed. */
const isOver = ({ exitCode, signalCode, killed, connected }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null || killed || !connected;

/** Whether it keeps the engine's process alive: only while it evaluates. */
function hold(child: ChildProcess): void {
  child.ref();
  child.channel?.ref();
}
function letGo(child: ChildProcess): void {
  child.unref();
  child.channel?.unref();
}

function start(): Promise<ChildProcess> {
  return new Promise((resolve, reject) => {
    const child = fork(ENTRY, {
      // It needs no environment, and cannot reveal a secret that it does not have.
      env: {},
      execArgv: [`--max-old-space-size=${HEAP_MB_MAX}`],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    const fail = (why: string) => {
      child.kill('SIGKILL');
      reject(new Error(why));
    };
    const timer = setTimeout(fail, STARTING_MS_MAX, 'it does not start in time');
    child.once('exit', (code, signal) => fail(`it ended with ${signal ?? code} as it started`));
    child.once('error', reject);
    child.once('message', (message) => {
      clearTimeout(timer);
      child.removeAllListeners('exit');
      // An error after this one comes with its end.
      child.on('error', () => undefined);
      if (message === READY) resolve(child);
      else fail('it says something else');
    });
  });
}

const HELD_UP: Evaluated = { kind: 'held-up' };
/** Signals from outside (no memory, a stop, a terminal): they say nothing of the template. */
const FROM_OUTSIDE: ReadonlySet<NodeJS.Signals | null> = new Set(['SIGKILL', 'SIGTERM', 'SIGINT']);
const FATAL: Evaluated = {
  kind: 'failed',
  fault: {
    why: `It has ended the process that evaluates it, as one does that uses more than ${HEAP_MB_MAX} MiB of memory.`,
  },
};

const isEnd = ({ kind }: Evaluated): boolean => kind === 'too-long' || kind === 'held-up';

/** The last one says why there are no more. */
function answersOf(child: ChildProcess, task: EvaluationTask): Promise<readonly Evaluated[]> {
  return new Promise((resolve) => {
    const answers: Evaluated[] = [];
    const end = (last: readonly Evaluated[]) => {
      clearTimeout(timer);
      child.off('message', hear);
      child.off('exit', died);
      resolve([...answers, ...last]);
    };
    const hear = (answer: Evaluated) => {
      answers.push(answer);
      if (isEnd(answer) || answers.length === task.expressions.length) end([]);
    };
    const died = (_code: number | null, signal: NodeJS.Signals | null) =>
      end([FROM_OUTSIDE.has(signal) ? HELD_UP : FATAL]);
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      end([HELD_UP]);
    }, task.limits.wallMs + ANSWER_MS_MAX);
    child.on('message', hear);
    child.on('exit', died);
    // When it cannot be sent, the process has ended, or ends.
    child.send(task, () => undefined);
  });
}
