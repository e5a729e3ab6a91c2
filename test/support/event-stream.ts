/** A caller that reads server-sent events as they come (HTML, 9.2.6). */

import { until } from './poll.ts';

export interface ReadEvent {
  readonly name: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test matches it.
  readonly data: any;
}

export interface EventReader {
  readonly status: number;
  readonly headers: Headers;
  /** All events so far. */
  readonly events: readonly ReadEvent[];
  /** Comments so far. */
  readonly comments: readonly string[];
  /** Resolves with how the stream ended: whole, or cut off. */
  readonly ended: Promise<'whole' | 'cut off'>;
  /** Resolves with the first event that fits. */
  find(what: string, fits: (event: ReadEvent) => boolean): Promise<ReadEvent>;
  leave(): void;
}

/** Asks for events, and reads them until the stream ends or the caller leaves. */
export async function readEvents(
  url: string,
  token: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<EventReader> {
  const leaving = new AbortController();
  const answer = await fetch(url, {
    headers: { ...headers, Authorization: `Bearer ${token}` },
    signal: leaving.signal,
  });
  const events: ReadEvent[] = [];
  const comments: string[] = [];
  const read = async (): Promise<'whole' | 'cut off'> => {
    const decoder = new TextDecoder();
    let text = '';
    try {
      for await (const piece of answer.body ?? []) {
        const blocks = (text + decoder.decode(piece, { stream: true })).split('\n\n');
        text = blocks.pop() ?? '';
        for (const block of blocks) take(block);
      }
      return 'whole';
    } catch {
      return 'cut off';
    }
  };
  const take = (block: string): void => {
    const fields = new Map(
      block.split('\n').map((line) => line.split(/:(.*)/s) as [string, string]),
    );
    const comment = fields.get('');
    if (comment !== undefined) comments.push(comment);
    const data = fields.get('data');
    if (data === undefined) return;
    events.push({ name: fields.get('event')?.trim() ?? 'message', data: JSON.parse(data) });
  };
  return {
    status: answer.status,
    headers: answer.headers,
    events,
    comments,
    ended: read(),
    find: (what, fits) => until(what, () => events.find(fits) ?? null),
    leave: () => leaving.abort(),
  };
}
