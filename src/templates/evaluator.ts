/**
 * Evaluates templates in processes. A client has one at most, and the next turn is that of the
 * client whose templates have used the least time lately: quick ones wait only for those under way.
 */

import type { Logger } from 'pino';
import type { TemplateFault } from '../domain/template.ts';
import { RecentUse } from '../std/recent-use.ts';
import type { EvaluationLimits, EvaluationTask } from './evaluation.ts';
import { EvaluationProcess } from './evaluation-process.ts';
import type { Evaluated } from './sandbox.ts';

/**
 * Bounds all templates of a push. One takes some milliseconds of a processor, most of them to load
 * the library. On a machine so busy that it gets a tenth of one, the second is over in ten.
 * @publisherLimit time of a processor for all templates of a push together (`processorMs`), and on
 * the wall (`wallMs`) → `400` of the push; `503`
 */
export const EVALUATION_LIMITS: EvaluationLimits = { processorMs: 1_000, wallMs: 10_000 };
/**
 * One for the client that uses up its time, one for the others.
 * @limit processes that evaluate templates; one client uses one at a time → the client whose
 * templates have used the least time lately is next
 */
const PROCESSES_MAX = 2;
/** @limit a push waits for a process that evaluates templates → `503` */
const WAITING_MS_MAX = 5_000;
/**
 * Bounds one client: four times the pushes that are accepted together.
 * @limit pushes of a client that wait for a process that evaluates templates → `503`
 */
const WAITING_OF_CLIENT_MAX = 1_024;

/**
 * @limit time that a client's templates have used counts half as much after
 */
const USE_HALF_LIFE_MS = 10_000;
/**
 * Clients whose use of time is remembered, about 100 bytes each.
 * @limit clients whose use of templates is remembered → forgotten, so it counts as none
 */
const USERS_MAX = 10_000;

export type Evaluation =
  | {
      readonly kind: 'evaluated';
      /** One for each expression; less if one of them failed in a way that ended the evaluation. */
      readonly results: readonly TemplateResult[];
    }
  /** Too many wait, the machine is too busy, or no process could be started. */
  | { readonly kind: 'busy' };

export type TemplateResult =
  | { readonly ok: true; readonly json: string }
  | { readonly ok: false; readonly fault: TemplateFault };

interface Waiting {
  readonly clientId: number;
  readonly task: EvaluationTask;
  readonly settle: (evaluation: Evaluation) => void;
  /** Ends the wait. */
  readonly timer: NodeJS.Timeout;
}

export class Evaluator {
  readonly #log: Logger;
  readonly #limits: EvaluationLimits;
  readonly #processes = Array.from({ length: PROCESSES_MAX }, () => new EvaluationProcess());
  #free: readonly EvaluationProcess[] = this.#processes;
  /** Keyed by client; of those with as much time used, the one whose turn is next is first. */
  readonly #waiting = new Map<number, readonly Waiting[]>();
  readonly #served = new Set<number>();
  /** Milliseconds of a process. */
  readonly #used = new RecentUse({ halfLifeMs: USE_HALF_LIFE_MS, usersMax: USERS_MAX });

  constructor(log: Logger, limits = EVALUATION_LIMITS) {
    this.#log = log;
    this.#limits = limits;
  }

  evaluate(clientId: number, expressions: readonly string[], input: string): Promise<Evaluation> {
    return this.#ask(clientId, { expressions, input, limits: this.#limits });
  }

  check(clientId: number, expression: string): Promise<Evaluation> {
    const task = { expressions: [expression], input: null, limits: this.#limits };
    return this.#ask(clientId, task);
  }

  /** Ends the processes. What is under way fails. */
  close(): void {
    for (const one of this.#processes) one.close();
  }

  #ask(clientId: number, task: EvaluationTask): Promise<Evaluation> {
    const before = this.#waiting.get(clientId) ?? [];
    if (before.length >= WAITING_OF_CLIENT_MAX) return Promise.resolve({ kind: 'busy' });
    return new Promise((settle) => {
      const timer = setTimeout(() => this.#giveUp(waiting), WAITING_MS_MAX);
      const waiting: Waiting = { clientId, task, settle, timer };
      this.#waiting.set(clientId, [...before, waiting]);
      this.#next();
    });
  }

  #giveUp(waiting: Waiting): void {
    this.#remove(waiting);
    waiting.settle({ kind: 'busy' });
  }

  /** The client gets to the end of the line. */
  #remove(waiting: Waiting): void {
    const { clientId, timer } = waiting;
    clearTimeout(timer);
    const others = (this.#waiting.get(clientId) ?? []).filter((one) => one !== waiting);
    this.#waiting.delete(clientId);
    if (others.length > 0) this.#waiting.set(clientId, others);
  }

  #next(): void {
    const [process] = this.#free;
    const turn = this.#turn();
    if (process === undefined || turn === null) return;
    this.#free = this.#free.filter((one) => one !== process);
    this.#served.add(turn.clientId);
    this.#remove(turn);
    void this.#serve(process, turn);
  }

  #turn(): Waiting | null {
    const unserved = [...this.#waiting.keys()].filter((clientId) => !this.#served.has(clientId));
    const clientId = this.#used.least(unserved, performance.now());
    return clientId === null ? null : (this.#waiting.get(clientId)?.[0] ?? null);
  }

  async #serve(process: EvaluationProcess, { clientId, task, settle }: Waiting): Promise<void> {
    const beganMs = performance.now();
    const answer = await process.run(task);
    const nowMs = performance.now();
    this.#used.add(clientId, nowMs - beganMs, nowMs);
    this.#served.delete(clientId);
    this.#free = [...this.#free, process];
    this.#next();
    if (answer.kind === 'answered') {
      settle(this.#evaluationOf(answer.evaluated));
      return;
    }
    this.#log.error(
      { err: answer.error },
      'a process that evaluates templates could not be started',
    );
    settle({ kind: 'busy' });
  }

  #evaluationOf(evaluated: readonly Evaluated[]): Evaluation {
    const results: TemplateResult[] = [];
    for (const one of evaluated) {
      const result = resultOf(one, this.#limits);
      if (result === null) return { kind: 'busy' };
      results.push(result);
    }
    return { kind: 'evaluated', results };
  }
}

/** Null: the machine was too busy for it. */
function resultOf(evaluated: Evaluated, limits: EvaluationLimits): TemplateResult | null {
  switch (evaluated.kind) {
    case 'held-up':
      return null;
    case 'made':
      return { ok: true, json: evaluated.json };
    case 'failed':
      return { ok: false, fault: evaluated.fault };
    case 'too-long':
      return { ok: false, fault: { why: tooLong(limits) } };
  }
}

const tooLong = ({ processorMs }: EvaluationLimits): string =>
  `It does not end within the ${processorMs} ms of a processor that all templates of a push have together.`;
