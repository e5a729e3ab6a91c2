/** A request as handlers see it. The query is parsed on demand. */

import type { RequestHead } from '../../packages/http1/src/request-head.ts';
import type { HttpRequest } from './handler.ts';

type Known = Pick<HttpRequest, 'address' | 'isSecure' | 'requestId' | 'body'>;

export class Request implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly address: string;
  readonly isSecure: boolean;
  readonly requestId: string;
  readonly body: Buffer;
  readonly #head: RequestHead;

  constructor(head: RequestHead, params: Readonly<Record<string, string>>, known: Known) {
    this.method = head.method;
    this.path = head.path;
    this.#head = head;
    this.params = params;
    this.address = known.address;
    this.isSecure = known.isSecure;
    this.requestId = known.requestId;
    this.body = known.body;
  }

  get query(): URLSearchParams {
    return new URLSearchParams(this.#head.query);
  }

  header(name: string): string {
    return this.#head.headers.get(name);
  }

  hasHeader(name: string): boolean {
    return this.#head.headers.has(name);
  }
}
