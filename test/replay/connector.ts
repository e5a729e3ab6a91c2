/**
 * The PHP connector of the public service as a caller (internals/existing-clients.md, "Notification
 * API" and "Admin API"): one user and password for everything, JSON, and a form with one part for
 * channels.
 */

import { ReadableStream } from 'node:stream/web';
import type { Demo } from '../support/processes.ts';

const BOUNDARY = '_=_symfony_1763867580_0123456789abcdef_=_';

export class Connector {
  readonly #domain: string;
  readonly #authorization: string;
  readonly clientId: string;

  constructor(domain: string, { clientId, superUser: { username, password } }: Demo) {
    this.#domain = domain;
    this.#authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
    this.clientId = clientId;
  }

  /** The value of JSON; null: it was not answered 2xx. */
  async get<T>(path: string): Promise<T | null> {
    const answer = await this.#ask('GET', path, {});
    return answer.ok ? ((await answer.json()) as T) : null;
  }

  /** True: it was answered 200, and nothing else. */
  async post(path: string, data: unknown): Promise<boolean> {
    const headers = { 'Content-Type': 'application/json' };
    return (await this.#ask('POST', path, headers, JSON.stringify(data))).status === 200;
  }

  /** The same as a form that comes in chunks, its only part JSON. */
  async postForm(path: string, data: unknown): Promise<boolean> {
    const headers = { 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}` };
    return (await this.#ask('POST', path, headers, formOf(data))).status === 200;
  }

  get defaultTag(): string {
    return `push-connector-tag-general-${this.clientId}`;
  }

  async #ask(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body?: string | ReadableStream<Uint8Array>,
  ): Promise<Response> {
    return await fetch(this.#domain + path, {
      method,
      headers: { ...headers, Authorization: this.#authorization },
      ...(body === undefined ? {} : { body, duplex: 'half' as const }),
    });
  }
}

function formOf(data: unknown): ReadableStream<Uint8Array> {
  const pieces = [
    `--${BOUNDARY}\r\n`,
    'Content-Type: application/json; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n',
    'Content-Disposition: form-data; name="data"\r\n\r\n',
    JSON.stringify(data),
    `\r\n--${BOUNDARY}--\r\n`,
  ];
  return ReadableStream.from(pieces.map((piece) => Buffer.from(piece)));
}
