/**
 * A steady load: so many requests a second whatever becomes of them, pushes at their times, and
 * guests.
 */

import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { EngineProcess } from '../../../test/support/processes.ts';
import { Guests } from './guests.ts';
import type { SoakRequest } from './requests.ts';
import { Requests } from './requests.ts';

export const REQUESTS_PER_SECOND = 100;
const TICK_MS = 50;
const CONNECTIONS = 32;
/**
 * More than this under way: the engine does not keep up, and what would come is counted as not
 * asked.
 */
const UNDER_WAY_MAX = 500;
const PUSH_EVERY_MS = 4_000;
const PUSH_LATER_EVERY_MS = 10_000;
const STATUS_AFTER_MS = 2_000;
const REQUEST_MS_MAX = 30_000;

interface Answered {
  readonly atMs: number;
  readonly tookMs: number;
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

export class SoakLoad {
  readonly answered: Answered[] = [];
  /** Unexpected answers, by status or error: how often. */
  readonly unexpected = new Map<string, number>();
  notAsked = 0;
  private readonly baseUrl: string;
  private readonly requests: Requests;
  private readonly guests: Guests;
  private readonly agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  private readonly timers = new Set<NodeJS.Timeout>();
  private underWay = 0;
  private isStopped = false;

  constructor(engine: EngineProcess) {
    this.baseUrl = engine.baseUrl;
    this.requests = new Requests(engine.demo());
    this.guests = new Guests(engine.baseUrl);
  }

  start(): void {
    const startMs = performance.now();
    let asked = 0;
    this.every(TICK_MS, () => {
      const due = ((performance.now() - startMs) / 1_000) * REQUESTS_PER_SECOND;
      for (; asked < due; asked += 1) {
        if (this.underWay < UNDER_WAY_MAX) void this.send(this.requests.next());
        else this.notAsked += 1;
      }
    });
    this.every(PUSH_EVERY_MS, () => void this.push());
    this.every(PUSH_LATER_EVERY_MS, () => void this.send(this.requests.push(true)));
    this.guests.start();
  }

  stop(): void {
    this.isStopped = true;
    for (const timer of this.timers) clearTimeout(timer);
    this.guests.stop();
    this.agent.destroy();
  }

  private every(intervalMs: number, act: () => void): void {
    this.timers.add(setInterval(act, intervalMs));
  }

  private async push(): Promise<void> {
    const job = await this.send(this.requests.push(false));
    if (job === null) return;
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      void this.send(this.requests.status(job));
    }, STATUS_AFTER_MS);
    this.timers.add(timer);
  }

  /** The answer's text; null: it was not the one to expect, and is counted. */
  private async send(asked: SoakRequest): Promise<string | null> {
    const startMs = performance.now();
    this.underWay += 1;
    try {
      const { status, body } = await this.ask(asked);
      this.answered.push({ atMs: startMs, tookMs: performance.now() - startMs });
      if (asked.statuses.includes(status)) return body;
      this.note(`${asked.path.split('/').slice(0, 4).join('/')} ${status}`);
    } catch (error) {
      if (!this.isStopped) this.note(error instanceof Error ? error.message : String(error));
    } finally {
      this.underWay -= 1;
    }
    return null;
  }

  private note(what: string): void {
    this.unexpected.set(what, (this.unexpected.get(what) ?? 0) + 1);
  }

  private ask(asked: SoakRequest): Promise<Answer> {
    const { method, path, token, body } = asked;
    return new Promise((resolve, reject) => {
      const sent = body === undefined ? '' : JSON.stringify(body);
      const asking = request(
        new URL(path, this.baseUrl),
        {
          method,
          agent: this.agent,
          timeout: REQUEST_MS_MAX,
          headers: {
            Authorization: `Bearer ${token}`,
            ...(method === 'POST' ? { 'Content-Length': Buffer.byteLength(sent) } : {}),
          },
        },
        (response) =>
          text(response).then(
            (body) => resolve({ status: response.statusCode ?? 0, body }),
            reject,
          ),
      );
      asking.on('timeout', () => asking.destroy(new Error('no answer in time')));
      asking.on('error', (error: NodeJS.ErrnoException) => {
        // The engine has closed a connection in the moment in which it was used again: a client
        // that keeps connections asks once more.
        if (asking.reusedSocket && error.code === 'ECONNRESET')
          this.ask(asked).then(resolve, reject);
        else reject(error);
      });
      asking.end(sent);
    });
  }
}
