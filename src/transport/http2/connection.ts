/** One connection on our own framing: makes each template this connection's octets, once. */

import type {
  ClientConnection,
  ClientEvents,
} from '../../../packages/http2/src/client/client-connection.ts';
import type {
  PreparedRequest,
  RequestForm,
} from '../../../packages/http2/src/client/request-form.ts';
import { ErrorCode } from '../../../packages/http2/src/error.ts';
import type { Field } from '../../../packages/http2/src/hpack/field.ts';
import { CappedMap } from '../../../packages/std/src/capped-map.ts';
import type { Attempt, ConnectionEvents, ProviderConnection } from '../provider-connection.ts';
import type { RequestTemplate } from '../transport.ts';

/**
 * Some KiB each: several times as many as a thread sends at the same time.
 * @limit messages kept as octets, per connection → the one prepared first is prepared again
 */
const PREPARED_MAX = 64;

export class Connection implements ProviderConnection, ClientEvents {
  readonly #client: ClientConnection;
  readonly #authority: string;
  readonly #events: ConnectionEvents;
  readonly #prepared = new CappedMap<RequestTemplate, PreparedRequest>({ sizeMax: PREPARED_MAX });
  #authorization = '';
  /** The template of the request before: most requests are of the same message. */
  #lastTemplate: RequestTemplate | null = null;
  #lastPrepared: PreparedRequest | null = null;
  #isRetired = false;

  constructor(client: ClientConnection, authority: string, events: ConnectionEvents) {
    this.#client = client;
    this.#authority = authority;
    this.#events = events;
  }

  get free(): number {
    return this.#client.capacity;
  }

  start(attempt: Attempt, authorization: string): void {
    const { template, token, body } = attempt;
    this.#client.send(this.#prepare(template, authorization), token, attempt, body);
  }

  retire(): void {
    this.#retire('retired', false);
    this.#client.drain();
  }

  destroy(reason: string): void {
    this.#client.destroy(reason);
  }

  freed(): void {
    this.#events.freed();
  }

  draining(reason: string, code: number): void {
    this.#retire(reason, code === ErrorCode.ENHANCE_YOUR_CALM);
  }

  closed(reason: string): void {
    this.#events.gone(reason);
  }

  #retire(reason: string, isToCalmDown: boolean): void {
    if (this.#isRetired) return;
    this.#isRetired = true;
    this.#events.retired(reason, isToCalmDown);
  }

  #prepare(template: RequestTemplate, authorization: string): PreparedRequest {
    const isSameAuthorization = authorization === this.#authorization;
    if (isSameAuthorization && template === this.#lastTemplate && this.#lastPrepared !== null) {
      return this.#lastPrepared;
    }
    if (!isSameAuthorization) {
      this.#prepared.clear();
      this.#authorization = authorization;
    }
    const prepared = this.#prepared.get(template) ?? this.#remember(template);
    this.#lastTemplate = template;
    this.#lastPrepared = prepared;
    return prepared;
  }

  #remember(template: RequestTemplate): PreparedRequest {
    const form = formOf(template, this.#authority, this.#authorization);
    const prepared = this.#client.prepare(form);
    this.#prepared.set(template, prepared);
    return prepared;
  }
}

/** Fields that last go into the peer's table (decision 18): one octet each from then on. */
function formOf(template: RequestTemplate, authority: string, authorization: string): RequestForm {
  return {
    method: 'POST',
    scheme: 'https',
    authority,
    valueIn: template.tokenIn === 'path' ? 'path' : 'content',
    path: template.pathBefore,
    fields: [
      ...fieldsOf({ authorization, ...template.lastingFields }, 'incremental'),
      ...fieldsOf(template.messageFields, 'without'),
    ],
    contentBefore: template.bodyBefore,
    contentAfter: template.bodyAfter,
    hasOwnContent: template.hasOwnBody ?? false,
  };
}

const fieldsOf = (
  fields: Readonly<Record<string, string>>,
  indexing: Field['indexing'],
): readonly Field[] => Object.entries(fields).map(([name, value]) => ({ name, value, indexing }));
