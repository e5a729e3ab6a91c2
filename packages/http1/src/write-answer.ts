/** Writes an answer's head and body to a socket, in as few pieces as possible. */

import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Answer } from './front.ts';

const STATUS_LINES: ReadonlyMap<number, string> = new Map(
  Object.entries(STATUS_CODES).map(([code, reason]) => [
    Number(code),
    `HTTP/1.1 ${code} ${reason}\r\n`,
  ]),
);

/**
 * A line break in a value would start another header, chosen by the author of the value. A
 * character above Latin-1 could become one when it is written as Latin-1.
 */
const WRITABLE = /^[\t\x20-\x7e\x80-\xff]*$/;
const UNWRITABLE = /[^\t\x20-\x7e\x80-\xff]/g;

/**
 * Up to this length, head and body are joined and written at once. A longer body would be copied
 * for that.
 */
const INLINE_LENGTH_MAX = 4_096;

/** A field's value without what could not be written as it is. */
export const fieldValue = (value: string): string =>
  WRITABLE.test(value) ? value : value.replace(UNWRITABLE, '?');

/** The date of every answer (RFC 9110, 6.6.1), made once a second. */
let dateLine = '';
let dateSecond = 0;

/** Writes the answer, without a streamed body. `closes`: this connection ends with it. */
export function writeAnswer(socket: Socket, answer: Answer, closes: boolean): void {
  const { status, body, isHead, stream } = answer;
  let head = STATUS_LINES.get(status) ?? `HTTP/1.1 ${status} \r\n`;
  answer.writeFields((name, value) => {
    head += `${name}: ${fieldValue(value)}\r\n`;
  });
  head += currentDateLine();
  if (closes) head += 'Connection: close\r\n';
  // 204 and 304 have no Content-Length (RFC 9110, 8.6).
  const isBodiless = status === 204 || status === 304;
  const length = isBodiless ? 0 : Buffer.byteLength(body);
  if (stream !== undefined) head += 'Transfer-Encoding: chunked\r\n\r\n';
  else head += isBodiless ? '\r\n' : `Content-Length: ${length}\r\n\r\n`;
  if (isHead || length === 0) socket.write(head, 'latin1');
  else if (typeof body === 'string' && length === body.length && length <= INLINE_LENGTH_MAX) {
    // One byte for each character: all of it is ASCII.
    socket.write(head + body, 'latin1');
  } else {
    socket.cork();
    socket.write(head, 'latin1');
    if (typeof body === 'string') socket.write(body, 'utf8');
    else socket.write(body);
    socket.uncork();
  }
}

function currentDateLine(): string {
  const second = Math.floor(Date.now() / 1_000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateLine = `Date: ${new Date(second * 1_000).toUTCString()}\r\n`;
  }
  return dateLine;
}
