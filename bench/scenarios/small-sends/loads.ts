/**
 * Pushes over HTTP, from a bounded number of connections or at a rate, and sends that were
 * scheduled for one moment.
 */

import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

export interface PushTarget {
  readonly baseUrl: string;
  readonly token: string;
  readonly tagIds: readonly number[];
  /** Absent: they are not urgent. */
  readonly priority?: 'urgent';
}

export const NEWS = { title: 'Goal!', message: 'Ninety minutes and four more.' };

/** Posts so many, one after the other on each connection; resolves when all are answered. */
export async function postAll(
  target: PushTarget,
  count: number,
  connections: number,
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  let next = 0;
  const one = async (): Promise<void> => {
    while (next < count) {
      next += 1;
      await post(target, agent, next);
    }
  };
  await Promise.all(Array.from({ length: Math.min(connections, count) }, one));
  agent.destroy();
}

/** A job that was posted, and when (epoch milliseconds). */
export interface Posted {
  readonly job: string;
  readonly atMs: number;
}

/** Posts at a rate, whatever becomes of those before. */
export async function postAtRate(
  target: PushTarget,
  perSecond: number,
  seconds: number,
): Promise<readonly Posted[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  const posts: Promise<Posted>[] = [];
  const startedMs = performance.now();
  const count = Math.ceil(perSecond * seconds);
  while (posts.length < count) {
    const due = Math.min(count, ((performance.now() - startedMs) / 1_000) * perSecond);
    while (posts.length < due) {
      const atMs = Date.now();
      posts.push(post(target, agent, posts.length).then((job) => ({ job, atMs })));
    }
    await sleep(2);
  }
  const posted = await Promise.all(posts);
  agent.destroy();
  return posted;
}

/** The id of the job. */
export function post(
  { baseUrl, token, tagIds, priority }: PushTarget,
  agent: Agent,
  number: number,
): Promise<string> {
  const tagId = tagIds[number % tagIds.length];
  const body = JSON.stringify({ tagIds: [tagId], payload: NEWS, priority });
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    const posting = request(`${baseUrl}/push-api/push`, { method: 'POST', agent, headers });
    posting.on('error', reject);
    posting.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => {
        if (response.statusCode === 200) resolve(text);
        else reject(new Error(`a push was answered ${response.statusCode}: ${text}`));
      });
    });
    posting.end(body);
  });
}
