/** `present` of a payload: how a push is shown, said once for all providers (reach.md, 13). */

import { z } from 'zod';
import { isObject } from '../../packages/std/src/json.ts';
import { boolean, text, wholeNumber } from './payload-forms.ts';

/**
 * Chrome and Windows show two, Safari more.
 * @publisherLimit actions of `present` → `400`
 */
const ACTIONS_MAX = 3;

const INTERRUPTIONS = ['passive', 'active', 'timeSensitive'] as const;

const action = z.strictObject(
  {
    id: text.pipe(z.string().min(1, 'must not be empty.')),
    title: text.pipe(z.string().min(1, 'must not be empty.')),
    url: text.exactOptional(),
  },
  { error: 'must have an id, a title, and a url if it opens one.' },
);

const fields = {
  interruption: z
    .enum(INTERRUPTIONS, { error: `must be one of ${INTERRUPTIONS.join(', ')}.` })
    .exactOptional(),
  thread: text.exactOptional(),
  relevance: z
    .number({ error: 'must be a number from 0 to 1.' })
    .min(0, 'must be a number from 0 to 1.')
    .max(1, 'must be a number from 0 to 1.')
    .exactOptional(),
  channel: text.exactOptional(),
  subtitle: text.exactOptional(),
  actions: z
    .array(action, { error: 'must be a list.' })
    .max(ACTIONS_MAX, `may be ${ACTIONS_MAX} at most.`)
    .readonly()
    .exactOptional(),
  actionCategory: text.exactOptional(),
  appBadge: wholeNumber(0, 2_147_483_647).exactOptional(),
  mutable: boolean.exactOptional(),
  replaceable: boolean.exactOptional(),
};

/** Null counts as absent, as it does in the payload. */
export const presentation = z.preprocess(
  (value) =>
    isObject(value)
      ? Object.fromEntries(Object.entries(value).filter(([, one]) => one !== null))
      : value,
  z.strictObject(fields),
);

export type Presentation = z.infer<typeof presentation>;

/**
 * Whether `present` is ours: an object with none but these fields. Anything else was data before we
 * knew the name, and stays data.
 */
export const isPresentation = (value: unknown): boolean =>
  isObject(value) &&
  Object.keys(value).length > 0 &&
  Object.keys(value).every((name) => Object.hasOwn(fields, name));
