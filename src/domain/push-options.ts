/**
 * How a push is sent. A new option is a record here, from which requests, answers and the OpenAPI
 * document take it, a column of `notifications`, and the code that obeys it.
 */

import { z } from 'zod';

interface FieldReader {
  /** One of the words; not given: the first of them. */
  choice<const Word extends string>(name: string, words: readonly [Word, ...Word[]]): Word;
  /** Null: not given. */
  whole(name: string, min: number, max: number): number | null;
}

interface PushOption<Value> {
  readonly field: string;
  readonly column: string;
  readonly type: 'boolean' | 'integer';
  readonly schema: z.ZodType;
  readonly about: string;
  readonly shownSchema: z.ZodType;
  readonly isChangeable: boolean;
  readonly nullMeans: string;
  read(reader: FieldReader): Value;
  /** Undefined: an answer leaves the field out. */
  show(value: Value): string | number | undefined;
}

type Described = Pick<PushOption<unknown>, 'field' | 'column' | 'about' | 'isChangeable'>;

/** A field with two words: the first is the default and means false. */
const oneOf = (words: readonly [string, string], described: Described): PushOption<boolean> => ({
  ...described,
  type: 'boolean',
  schema: z.enum(words),
  shownSchema: z.enum(words),
  nullMeans: words[0],
  read: (reader) => reader.choice(described.field, words) === words[1],
  show: (value) => words[value ? 1 : 0],
});

/** A whole number; null: no such bound. */
const bound = (
  min: number,
  max: number,
  described: Described & Pick<PushOption<unknown>, 'nullMeans'>,
): PushOption<number | null> => ({
  ...described,
  type: 'integer',
  schema: z.int().min(min).max(max),
  shownSchema: z.int().min(min).max(max).optional().meta({ description: 'As it was given.' }),
  read: (reader) => reader.whole(described.field, min, max),
  show: (value) => value ?? undefined,
});

/** @limit devices a second that a send may be held to, at least → `400` */
const RATE_PER_SECOND_MIN = 1;
/** @limit devices a second that a send may be held to, at most → `400` */
const RATE_PER_SECOND_MAX = 1_000_000;

/** @limit devices after which a send pauses by itself, at least → `400` */
const PAUSE_AFTER_MIN = 1;
/** @limit devices after which a send pauses by itself, at most → `400` */
const PAUSE_AFTER_MAX = 1_000_000_000;

const PUSH_OPTIONS = {
  /** No device may get it twice, rather none: a send is repeated only if it has surely failed. */
  isAtMostOnce: oneOf(['at-least-once', 'at-most-once'], {
    field: 'delivery',
    column: 'at_most_once',
    about:
      'What happens to a send whose outcome is unknown (no answer, connection lost, process killed). `at-least-once`, the default: it is sent again, maybe twice. `at-most-once`: never, and the device is `failed` with `OutcomeUnknown: …`.',
    isChangeable: false,
  }),
  /** It overtakes other sends of its client. */
  isUrgent: oneOf(['normal', 'urgent'], {
    field: 'priority',
    column: 'urgent',
    about:
      '`normal` by default. `urgent` overtakes the other sends of its client, also those that run. They keep a fifth, and other clients keep their share. How a phone shows the message is the `priority` of the payload.',
    isChangeable: true,
  }),
  /** Devices a second at most, over all nodes. Null: as many as can be. */
  ratePerSecond: bound(RATE_PER_SECOND_MIN, RATE_PER_SECOND_MAX, {
    field: 'ratePerSecond',
    column: 'rate_per_second',
    about:
      'At most so many devices a second, over all nodes and evenly within the second; retries count too. Null, the default: as many as can be. What is not through at `expiresAt` is `expired`.',
    nullMeans: 'as many as can be',
    isChangeable: true,
  }),
  /** It pauses by itself once after so many devices. Null: it does not. */
  pauseAfter: bound(PAUSE_AFTER_MIN, PAUSE_AFTER_MAX, {
    field: 'pauseAfter',
    column: 'pause_after',
    about:
      'For a release in stages: after so many devices the job pauses by itself, once, and `resume` sends to the rest. `stageEndedAt` is there then. Until then it is held to 1,000 devices a second, where `ratePerSecond` says no other. More are sent to only where a provider takes longer than 3 s to answer. An audience that is not larger just gets it. Use it when every node runs a version that knows it: others do not pause.',
    nullMeans: 'it does not pause',
    isChangeable: false,
  }),
} as const;

type Options = typeof PUSH_OPTIONS;
export type PushOptionName = keyof Options;
export type PushOptions = {
  readonly [Name in PushOptionName]: ReturnType<Options[Name]['read']>;
};

const ALL = Object.entries(PUSH_OPTIONS) as readonly (readonly [
  PushOptionName,
  PushOption<PushOptions[PushOptionName]>,
])[];
export const PUSH_OPTION_NAMES = ALL.map(([name]) => name);
export const PUSH_OPTION_FIELDS = ALL.map(([, { field }]) => field);
export const CHANGEABLE_OPTIONS = ALL.flatMap(([name, { isChangeable }]) =>
  isChangeable ? name : [],
);

export const pushOption = (name: PushOptionName): PushOption<PushOptions[PushOptionName]> =>
  PUSH_OPTIONS[name] as PushOption<PushOptions[PushOptionName]>;

export const readPushOptions = (reader: FieldReader): PushOptions =>
  Object.fromEntries(ALL.map(([name, option]) => [name, option.read(reader)])) as PushOptions;

/** The options of a push that names none. */
export const DEFAULT_PUSH_OPTIONS: PushOptions = readPushOptions({
  choice: (_, words) => words[0],
  whole: () => null,
});

export const shownOptions = (
  options: PushOptions,
  names: readonly PushOptionName[] = PUSH_OPTION_NAMES,
): Readonly<Record<string, string | number | undefined>> =>
  Object.fromEntries(
    names.map((name) => [pushOption(name).field, pushOption(name).show(options[name])]),
  );

export const optionSchemas = (
  names: readonly PushOptionName[],
  schemaOf: (option: PushOption<PushOptions[PushOptionName]>) => z.ZodType,
): Readonly<Record<string, z.ZodType>> =>
  Object.fromEntries(names.map((name) => [pushOption(name).field, schemaOf(pushOption(name))]));
