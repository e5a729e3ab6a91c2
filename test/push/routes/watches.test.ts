/** Who listens to which push job: polls, heartbeats and limits, on both stores. */

import t from 'tap';
import type { BodySink } from '../../../packages/http1/src/body-stream.ts';
import { PatientReads } from '../../../src/database/patient-reads.ts';
import type { Store } from '../../../src/database/store.ts';
import type { WatchLimits } from '../../../src/push/routes/watches.ts';
import { JobWatches } from '../../../src/push/routes/watches.ts';
import { makeNotification, makeTenant } from '../../support/notifications.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { until } from '../../support/poll.ts';

const SOON_MS = 20;

/** One that listens, until it leaves or the stream ends. */
class Listener implements BodySink {
  text = '';
  isEnded = false;
  #leave: () => void = () => undefined;

  constructor(watches: JobWatches, clientId: number, job: string) {
    const leave = watches.eventsOf(clientId, job, 'somebody')(this);
    if (this.isEnded) leave();
    else this.#leave = leave;
  }

  write(piece: string): void {
    this.text += piece;
  }

  end(): void {
    this.isEnded = true;
    this.leave();
  }

  leave(): void {
    this.#leave();
    this.#leave = () => undefined;
  }

  get events(): readonly string[] {
    return [...this.text.matchAll(/^event: (.+)$/gm)].map(([, name = '']) => name);
  }

  hears(name: string, count = 1): Promise<true> {
    return until(`${count} of ${name}`, () =>
      this.events.filter((event) => event === name).length >= count ? true : null,
    );
  }
}

async function setUp(store: Store, limits: Partial<WatchLimits> = {}) {
  const tenant = await makeTenant(store.sql, 'watched');
  const job = await makeNotification(store.sql, tenant);
  let polls = 0;
  const reads = new PatientReads((work) => {
    polls += 1;
    return work(store.sql);
  });
  const watches = new JobWatches(jobReads(reads), { pollIntervalMs: SOON_MS, ...limits });
  return { ...tenant, job, reads, watches, polls: () => polls };
}

const jobReads = (patientReads: PatientReads) => ({ patientReads, reachRetentionDays: 7 });

const finish = ({ sql }: Store, job: string) => sql`
  update notifications set state = 'FINISHED', finished_at = now() where id = ${job}::uuid`;

await onEachStore(t, {
  async 'listeners of one job share one poll, and hear the same'(t, store) {
    const interval = 3_600_000;
    const { watches, clientId, job, polls } = await setUp(store, { pollIntervalMs: interval });
    const first = new Listener(watches, clientId, job);
    await first.hears('progress');
    const second = new Listener(watches, clientId, job);
    t.same(second.events, ['progress'], 'the second one hears at once what is known');
    t.equal(second.text, first.text);
    t.match(first.text, /^retry: 3000\n\nevent: progress\ndata: \{"id":"[^\n]+\}\n\n$/);
    t.equal(polls(), 1);
    first.leave();
    second.leave();
  },

  async 'changes are told, then the end; what stays the same is not repeated'(t, store) {
    const { watches, clientId, job, polls } = await setUp(store);
    const listeners = [1, 2].map(() => new Listener(watches, clientId, job));
    await listeners[1]?.hears('progress');
    const before = polls();
    await until('further polls', () => (polls() > before + 2 ? true : null));
    t.same(listeners[0]?.events, ['progress']);
    await store.sql`update notification_scopes set total = 5 where notification_id = ${job}::uuid`;
    await Promise.all(listeners.map((listener) => listener.hears('progress', 2)));
    await finish(store, job);
    for (const listener of listeners) {
      await listener.hears('end');
      t.ok(listener.isEnded);
      t.match(
        listener.text,
        /"state":"FINISHED".+\n\nevent: end\ndata: \{"state":"FINISHED"\}\n\n$/,
      );
    }
    const after = polls();
    await new Promise((resolve) => setTimeout(resolve, 5 * SOON_MS));
    t.equal(polls(), after, 'nobody is polled for any more');
  },

  async 'a job that has ended: one snapshot and the end'(t, store) {
    const { watches, clientId, job } = await setUp(store);
    await finish(store, job);
    const listener = new Listener(watches, clientId, job);
    await listener.hears('end');
    t.same(listener.events, ['progress', 'end']);
  },

  async 'of a job that is deleted meanwhile the stream breaks off'(t, store) {
    const { watches, clientId, job } = await setUp(store);
    const listener = new Listener(watches, clientId, job);
    await listener.hears('progress');
    await store.sql`delete from notifications where id = ${job}::uuid`;
    await until('it ends', () => (listener.isEnded ? true : null));
    t.same(listener.events, ['progress'], 'it is not told to have ended');
  },

  async 'silence is filled with heartbeats'(t, store) {
    const { watches, clientId, job } = await setUp(store, { heartbeatIntervalMs: SOON_MS });
    const listener = new Listener(watches, clientId, job);
    await listener.hears('progress');
    await until('two', () => (listener.text.split('\n\n:\n\n:\n\n').length > 1 ? true : null));
    listener.leave();
    t.same(listener.events, ['progress']);
  },

  async 'while too much is counted the listener waits, and hears of it afterwards'(t, store) {
    const { watches, clientId, job, reads } = await setUp(store);
    const listener = new Listener(watches, clientId, job);
    await listener.hears('progress');
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    // The most that a client may have under way: a poll waits two seconds, and is put off.
    const counts = [1, 2].map(() => reads.run(clientId, () => released));
    await finish(store, job);
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    t.same([listener.events, listener.isEnded], [['progress'], false]);
    release();
    await Promise.all(counts);
    await listener.hears('end');
  },

  async 'of one client so many, of all so many'(t, store) {
    const { watches, clientId, job } = await setUp(store, { ofClientMax: 2, listenersMax: 4 });
    const other = await makeTenant(store.sql, 'another');
    const otherJob = await makeNotification(store.sql, other);
    const listeners = [1, 2].map(() => new Listener(watches, clientId, job));
    t.equal(watches.roomFor(clientId), 'client-full');
    t.equal(watches.roomFor(other.clientId), 'room');
    const third = new Listener(watches, clientId, job);
    t.same([third.isEnded, third.text], [true, ''], 'who comes all the same is ended at once');
    listeners.push(new Listener(watches, other.clientId, otherJob));
    t.equal(watches.roomFor(clientId), 'client-full');
    listeners[0]?.leave();
    t.equal(watches.roomFor(clientId), 'room');
    for (const listener of listeners) listener.leave();
  },

  async 'who has the most listeners makes room for one that has fewer'(t, store) {
    const { watches, clientId, job } = await setUp(store, { ofClientMax: 8, listenersMax: 8 });
    const all: (readonly [id: number, listener: Listener])[] = [];
    const comeAll = (id: number, jobId: string): void => {
      while (watches.roomFor(id) === 'room') all.push([id, new Listener(watches, id, jobId)]);
    };
    const listening = (id: number): number =>
      all.filter(([other, { isEnded }]) => other === id && !isEnded).length;
    comeAll(clientId, job);
    t.equal(listening(clientId), 8, 'alone all');
    const [[, first] = [0, null]] = all;
    const others: number[] = [];
    for (let n = 1; n < 8; n += 1) {
      const other = await makeTenant(store.sql, `another-${n}`);
      comeAll(other.clientId, await makeNotification(store.sql, other));
      others.push(other.clientId);
      if (n > 1) continue;
      t.same([listening(clientId), listening(other.clientId)], [4, 4], 'two have half each');
      t.ok(first?.isEnded, 'those that came first have gone');
      t.notOk(first?.events.includes('end'), 'they are not told that their job has ended');
      t.equal(watches.roomFor(clientId), 'full');
    }
    t.same([clientId, ...others].map(listening), [1, 1, 1, 1, 1, 1, 1, 1], 'eight have one each');
    t.equal(watches.roomFor(0), 'full');
    for (const [, listener] of all) listener.leave();
    t.equal(watches.roomFor(0), 'room', 'all have left');
  },

  async 'a listener that stays too long is ended, and its place is free'(t, store) {
    const { watches, clientId, job } = await setUp(store, {
      heartbeatIntervalMs: SOON_MS,
      durationMsMax: 10 * SOON_MS,
    });
    const listener = new Listener(watches, clientId, job);
    await until('it is ended', () => (listener.isEnded ? true : null));
    t.notOk(listener.events.includes('end'), 'it is not told that the job has ended');
    t.equal(watches.roomFor(clientId), 'room');
  },

  async 'polls of one client leave room for its other reads'(t, store) {
    const tenant = await makeTenant(store.sql, 'watched');
    const jobs = [];
    for (let n = 0; n < 8; n += 1) jobs.push(await makeNotification(store.sql, tenant));
    let atOnce = 0;
    let most = 0;
    const reads = new PatientReads(async (work) => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      try {
        return await work(store.sql);
      } finally {
        atOnce -= 1;
      }
    });
    const watches = new JobWatches(jobReads(reads), { pollIntervalMs: SOON_MS });
    const listeners = jobs.map((job) => new Listener(watches, tenant.clientId, job));
    await Promise.all(listeners.map((listener) => listener.hears('progress')));
    t.equal(most, 1);
    for (const listener of listeners) listener.leave();
  },
});
