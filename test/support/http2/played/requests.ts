/** Random requests: forms of both kinds, with values around every length that matters. */

import type { RequestForm } from '../../../../packages/http2/src/client/request-form.ts';
import type { Indexing } from '../../../../packages/http2/src/hpack/field.ts';
import type { Random } from './random.ts';

const FORMS_PER_CONNECTION = 4;
/** A length of a path is written in one octet more above each of these. */
const LENGTHS = [0, 1, 64, 64, 64, 64, 126, 127, 128, 254, 255, 256, 300] as const;

export const makeForms = (random: Random): readonly RequestForm[] =>
  Array.from({ length: FORMS_PER_CONNECTION }, () => makeForm(random));

function makeForm(random: Random): RequestForm {
  const valueIn = random.pick(['path', 'content'] as const);
  const fields = Array.from({ length: random.between(0, 5) }, (_, i) => ({
    name: `x-${i}`,
    value: random.text(random.length(400)),
    indexing: random.pick<Indexing>(['incremental', 'without', 'never']),
  }));
  const content = (): Buffer => random.octets(random.chance(0.5) ? 0 : random.length(90_000));
  return {
    method: random.pick(['GET', 'POST']),
    scheme: 'https',
    authority: random.pick(['a.test', 'b.test']),
    valueIn,
    path: `/${random.text(random.length(100))}`,
    fields,
    contentBefore: content(),
    contentAfter: content(),
  };
}

export function makeValue(random: Random, { valueIn }: RequestForm): string {
  if (random.chance(0.03)) return 'v'.repeat(random.between(16_000, 17_000));
  if (valueIn === 'content' && random.chance(0.1)) return '漢😀é '.repeat(random.length(9_000));
  return random.text(random.pick(LENGTHS));
}
