/**
 * Makes up a server's answer to one request: a lawful one mostly, at times one that breaks off or
 * is malformed.
 */

import type { Pair } from '../blocks.ts';
import { Code } from '../frames.ts';
import type { Random } from './random.ts';

export type Act =
  /** A field section; what it is depends on when it comes. */
  | { readonly kind: 'fields'; readonly fields: readonly Pair[]; readonly isEnd: boolean }
  | { readonly kind: 'content'; readonly content: Buffer; readonly isEnd: boolean }
  | { readonly kind: 'reset'; readonly code: number };

const STATUSES = [200, 200, 200, 200, 201, 204, 400, 403, 404, 410, 429, 500, 503] as const;
const NAMES = ['apns-id', 'server', 'content-type', 'date', 'retry-after', 'x-a', 'x-b'] as const;
const RESET_CODES = [0, 1, 2, 5, 7, 7, 8, 11, 0xdead] as const;

/** Sections that are no response's (RFC 9113, 8.2 and 8.3.2). */
const MALFORMED_HEADS: readonly (readonly Pair[])[] = [
  [],
  [['a', 'b']],
  [[':status', '20']],
  [
    ['a', 'b'],
    [':status', '200'],
  ],
  [
    [':status', '200'],
    [':status', '200'],
  ],
  [
    [':status', '200'],
    [':path', '/'],
  ],
  [
    [':status', '200'],
    ['Upper', 'b'],
  ],
  [
    [':status', '200'],
    ['connection', 'close'],
  ],
  [
    [':status', '200'],
    ['content-length', '1'],
    ['content-length', '2'],
  ],
  [[':status', '101']],
];

/** All acts of an answer in order; none: the request is never answered. */
export function makeAnswer(random: Random): readonly Act[] {
  const acts = [...interimActs(random), ...finalActs(random)];
  if (random.chance(0.1)) {
    const reset = { kind: 'reset' as const, code: random.pick(RESET_CODES) };
    return [...acts.slice(0, random.between(0, acts.length - 1)), reset];
  }
  if (random.chance(0.05)) return acts.slice(0, random.between(0, acts.length - 1));
  // 8.1: the answer is complete, the rest of the request is of no use.
  if (random.chance(0.05)) acts.push({ kind: 'reset', code: Code.NO_ERROR });
  return acts;
}

function interimActs(random: Random): Act[] {
  if (!random.chance(0.15)) return [];
  const acts: Act[] = [];
  for (let i = random.between(1, 3); i > 0; i -= 1) {
    const fields: Pair[] = [[':status', random.pick(['100', '102', '103'])], ...someFields(random)];
    acts.push({ kind: 'fields', fields, isEnd: random.chance(0.03) });
  }
  return acts;
}

function finalActs(random: Random): Act[] {
  const status = random.pick(STATUSES);
  const contents = status === 204 || random.chance(0.4) ? [] : someContents(random);
  const octets = contents.reduce((sum, { length }) => sum + length, 0);
  const head: Pair[] = [[':status', `${status}`], ...someFields(random)];
  if (random.chance(0.4)) {
    head.push(['content-length', `${octets + (random.chance(0.1) ? 1 : 0)}`]);
  }
  const trailers = random.chance(0.15) ? someTrailers(random) : null;
  const isBare = contents.length === 0 && trailers === null;
  const acts: Act[] = [
    random.chance(0.05)
      ? { kind: 'fields', fields: random.pick(MALFORMED_HEADS), isEnd: isBare }
      : { kind: 'fields', fields: head, isEnd: isBare },
  ];
  if (random.chance(0.02)) acts.pop();
  for (const [i, content] of contents.entries()) {
    const isEnd = trailers === null && i === contents.length - 1;
    acts.push({ kind: 'content', content, isEnd });
  }
  if (trailers !== null) {
    acts.push({ kind: 'fields', fields: trailers, isEnd: !random.chance(0.05) });
  }
  return acts.length === 0 ? [{ kind: 'content', content: Buffer.alloc(0), isEnd: true }] : acts;
}

function someContents(random: Random): Buffer[] {
  const contents: Buffer[] = [];
  for (let i = random.between(1, 4); i > 0; i -= 1) {
    contents.push(random.octets(random.chance(0.2) ? 0 : random.length(90_000)));
  }
  return contents;
}

const someTrailers = (random: Random): Pair[] =>
  random.chance(0.1) ? [[':status', '200']] : someFields(random);

function someFields(random: Random): Pair[] {
  const fields: Pair[] = [];
  for (let i = random.between(0, 4); i > 0; i -= 1) {
    fields.push([random.pick(NAMES), random.text(random.length(200))]);
  }
  return fields;
}
