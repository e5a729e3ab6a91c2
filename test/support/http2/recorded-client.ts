/**
 * Our client in a conversation: the end of each request, the events that its owner has heard, and
 * that each request has one end.
 */

import assert from 'node:assert/strict';
import type { Duplex } from 'node:stream';
import type { ClientOptions } from '../../../packages/http2/src/client/client-connection.ts';
import { ClientConnection } from '../../../packages/http2/src/client/client-connection.ts';
import type {
  RequestFailure,
  Response,
  ResponseReceiver,
} from '../../../packages/http2/src/client/client-stream.ts';
import type {
  PreparedRequest,
  RequestForm,
} from '../../../packages/http2/src/client/request-form.ts';

export type End =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly fields: Readonly<Record<string, string>>;
      readonly body: string;
      readonly isTruncated: boolean;
      readonly trailers: Readonly<Record<string, string>>;
    }
  | ({ readonly kind: 'failed' } & RequestFailure);

/** A request that was sent. */
export interface Sent {
  readonly streamId: number;
  readonly end: Promise<End>;
}

/** A request with content, as to APNs. */
export const POST: RequestForm = {
  method: 'POST',
  scheme: 'https',
  authority: 'push.test',
  valueIn: 'path',
  path: '/3/device/',
  fields: [],
  contentBefore: Buffer.from('{"aps":{}}'),
  contentAfter: Buffer.alloc(0),
};

/** A request that is HEADERS alone. */
export const GET: RequestForm = { ...POST, method: 'GET', contentBefore: Buffer.alloc(0) };

/** A request with content of so many octets. */
export const postOf = (octets: number): RequestForm => ({
  ...POST,
  contentBefore: Buffer.alloc(octets, 'x'),
});

const PATIENT: ClientOptions = {
  streamsMax: 100,
  requestTimeoutMs: 600_000,
  bodyOctetsMax: 4_096,
  pingAfterSilenceMs: 600_000,
  pingTimeoutMs: 600_000,
  pingsInARowMax: 2,
};

interface Entry {
  readonly ends: End[];
  isCancelled: boolean;
}

export class RecordedClient {
  readonly connection: ClientConnection;
  /** The owner's events: 'draining …' and 'closed …'. */
  readonly events: string[] = [];
  /** The end of every request by its stream. */
  readonly ends = new Map<number, Entry>();
  readonly #prepared = new Map<RequestForm, PreparedRequest>();
  #isSending = false;
  #waiting: (() => void)[] = [];

  constructor(socket: Duplex, options: Partial<ClientOptions>, firstStreamId?: number) {
    const event = (text: string): void => {
      assert.equal(this.#isSending, false, 'an event from inside of send');
      if (text !== '') this.events.push(text);
      const waiting = this.#waiting;
      this.#waiting = [];
      for (const wake of waiting) wake();
    };
    this.connection = new ClientConnection(
      socket,
      { ...PATIENT, ...options },
      {
        freed: () => event(''),
        draining: (reason) => event(`draining ${reason}`),
        closed: (reason) => event(`closed ${reason}`),
      },
      firstStreamId,
    );
  }

  /** Sends as soon as the connection takes a request. */
  async request(form: RequestForm = POST, value = 'abc'): Promise<Sent> {
    await this.until(() => this.connection.capacity > 0);
    return this.sendNow(form, value);
  }

  /** Sends at once; `onEnd` is called from inside of the end. */
  sendNow(form: RequestForm = POST, value = 'abc', onEnd: () => void = () => undefined): Sent {
    const entry: Entry = { ends: [], isCancelled: false };
    const { promise, receiver } = this.#receiver(entry, onEnd);
    this.#isSending = true;
    const streamId = this.connection.send(this.#prepare(form), value, receiver);
    this.#isSending = false;
    this.ends.set(streamId, entry);
    return { streamId, end: promise };
  }

  cancel({ streamId }: Sent): void {
    const entry = this.ends.get(streamId);
    if (entry !== undefined && entry.ends.length === 0) entry.isCancelled = true;
    this.connection.cancel(streamId);
  }

  /** Waits for an event after which it is so. */
  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      assert.equal(this.connection.isClosed, false, `closed: ${this.events.join(', ')}`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Waits until the client has looked at its time-outs; nothing else may be going on. */
  async swept(): Promise<void> {
    let isFirst = true;
    await this.until(() => {
      const isSo = !isFirst;
      isFirst = false;
      return isSo;
    });
  }

  /** Why it has closed, when it has. */
  async closed(): Promise<string> {
    while (!this.connection.isClosed) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    return this.events.at(-1) ?? '';
  }

  /**
   * Ends what is left, and checks that every request had one end and every connection's owner one
   * farewell.
   */
  finish(): void {
    this.connection.destroy('the conversation is over');
    for (const [streamId, { ends, isCancelled }] of this.ends) {
      assert.equal(ends.length, isCancelled ? 0 : 1, `ends of stream ${streamId}`);
    }
    const count = (kind: string) => this.events.filter((event) => event.startsWith(kind)).length;
    assert.equal(count('closed'), 1);
    assert.ok(count('draining') <= 1);
  }

  #prepare(form: RequestForm): PreparedRequest {
    const prepared = this.#prepared.get(form) ?? this.connection.prepare(form);
    this.#prepared.set(form, prepared);
    return prepared;
  }

  #receiver(
    entry: Entry,
    onEnd: () => void,
  ): { promise: Promise<End>; receiver: ResponseReceiver } {
    let resolve: (end: End) => void = () => undefined;
    const promise = new Promise<End>((resolvePromise) => {
      resolve = resolvePromise;
    });
    const end = (end: End): void => {
      assert.equal(this.#isSending, false, 'an end from inside of send');
      entry.ends.push(end);
      resolve(end);
      onEnd();
    };
    const receiver: ResponseReceiver = {
      answered: (response) => end(answered(response)),
      failed: (failure) => end({ kind: 'failed', ...failure }),
    };
    return { promise, receiver };
  }
}

const answered = ({ status, fields, body, isTruncated, trailers }: Response): End => ({
  kind: 'answered',
  status,
  fields: recordOf(fields),
  body: body.toString('latin1'),
  isTruncated,
  trailers: recordOf(trailers),
});

const recordOf = (fields: Response['fields']): Readonly<Record<string, string>> =>
  Object.fromEntries(fields.map(({ name, value }) => [name, value]));
