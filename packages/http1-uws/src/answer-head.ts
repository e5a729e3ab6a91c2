/** Makes the status and the fields of an answer, as uWebSockets.js is to write them. */

import { STATUS_CODES } from 'node:http';
import type { Answer } from '../../http1/src/front.ts';
import { fieldValue } from '../../http1/src/write-answer.ts';

const STATUS: ReadonlyMap<number, string> = new Map(
  Object.entries(STATUS_CODES).map(([code, reason]) => [Number(code), `${code} ${reason}`]),
);
const ASCII = /^[\t\x20-\x7e]*$/;

/**
 * Rule (k): one text for all of it, since each call into C++ costs as much as a short answer. It
 * has neither date nor length, which uWebSockets.js adds.
 */
export function answerHead(answer: Answer, further: string): string | Buffer {
  let head = STATUS.get(answer.status) ?? `${answer.status} `;
  let isAscii = true;
  answer.writeFields((name, value) => {
    if (ASCII.test(value)) head += `\r\n${name}: ${value}`;
    else {
      isAscii = false;
      head += `\r\n${name}: ${fieldValue(value)}`;
    }
  });
  head += further;
  // It would write a text as UTF-8.
  return isAscii ? head : Buffer.from(head, 'latin1');
}
