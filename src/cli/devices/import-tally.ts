/** Counts the results of an import's records, over interruptions, for the summary. */

import { z } from 'zod';
import { foreignText } from '../../../packages/std/src/foreign-text.ts';
import type { ImportResult } from '../../devices/import/imported.ts';
import { counted, format } from '../../std/counted.ts';
import type { KnownAttributes } from './attribute-choice.ts';

export const tallyForm = z.object({
  results: z.record(z.string(), z.number()),
  passed: z.record(z.string(), z.number()),
  faults: z.number(),
  tagsCreated: z.number(),
  tagsLeftOut: z.number(),
  /** Those that `--tags` or `--without-tags` leave out. */
  tagsNotTaken: z.number(),
  // Absent in the state of an import that an earlier version began.
  /** Values of attributes, by why they were left out. */
  attributesLeftOut: z.record(z.string(), z.number()).default({}),
  /** Those that `--without-attributes` leaves out. */
  attributesNotTaken: z.number().default(0),
});

export type Tally = z.infer<typeof tallyForm>;

export const emptyTally = (): Tally => ({
  results: {},
  passed: {},
  faults: 0,
  tagsCreated: 0,
  tagsLeftOut: 0,
  tagsNotTaken: 0,
  attributesLeftOut: {},
  attributesNotTaken: 0,
});

export function addTo(tally: Tally, more: Tally): void {
  for (const part of ['results', 'passed', 'attributesLeftOut'] as const) {
    for (const [name, count] of Object.entries(more[part])) add(tally[part], name, count);
  }
  tally.faults += more.faults;
  tally.tagsCreated += more.tagsCreated;
  tally.tagsLeftOut += more.tagsLeftOut;
  tally.tagsNotTaken += more.tagsNotTaken;
  tally.attributesNotTaken += more.attributesNotTaken;
}

export function add(counts: Record<string, number>, name: string, count = 1): void {
  counts[name] = (counts[name] ?? 0) + count;
}

const NAME_LENGTH_MAX = 64;

export const NOT_DECLARED =
  'is no attribute that devices of the app can have (tagcast attribute add)';

const RESULT_WORDS: Readonly<Record<Exclude<ImportResult, 'unavailable'>, string>> = {
  added: 'added',
  merged: 'existed already, updated from the file',
  kept: 'unchanged: registered by the app since the import began',
  'tags-limited': 'without some tags: TAGS_PER_DEVICE_MAX is reached',
  limit: 'left out: the app has DEVICES_PER_APP_MAX, or its client as many devices as it may',
  refused: 'refused by the database',
};

export function describeTally(tally: Tally): readonly string[] {
  const line = (count: number, text: string): string => `  ${format(count)} ${text}`;
  const lines = Object.entries(RESULT_WORDS).flatMap(([result, words]) => {
    const count = tally.results[result] ?? 0;
    return count === 0 ? [] : line(count, words);
  });
  for (const [reason, count] of Object.entries(tally.passed)) {
    lines.push(line(count, `skipped: ${reason}`));
  }
  const { faults, tagsCreated, tagsLeftOut, tagsNotTaken } = tally;
  if (faults > 0) lines.push(`  ${counted(faults, 'bad record')}, reported above`);
  if (tagsCreated > 0) lines.push(`  ${counted(tagsCreated, 'tag')} created`);
  if (tagsNotTaken > 0) {
    lines.push(`  ${counted(tagsNotTaken, 'subscription')} left out by --tags or --without-tags`);
  }
  if (tagsLeftOut > 0) {
    const advice = 'left out: no such tag exists; --create-tags creates what is missing';
    lines.push(`  ${counted(tagsLeftOut, 'subscription')} ${advice}`);
  }
  return [...lines, ...describeAttributes(tally)];
}

/** @limit names of attributes that a file has and devices cannot have, in a summary → `others` */
const NAMES_MAX = 100;

/** Counts a value of an attribute that was left out. A file may have any number of names. */
export function addLeftOut(tally: Tally, name: string, why: string): void {
  const text = `${foreignText(name, NAME_LENGTH_MAX)} ${why}`;
  const { attributesLeftOut: counts } = tally;
  const isRoom = text in counts || Object.keys(counts).length < NAMES_MAX;
  add(counts, isRoom ? text : `others ${why}`);
}

const LEFT_OUT_WORDS = {
  invalid: 'has a value that is none of its type',
  full: 'has a new value, and as many as it may',
} as const;

interface LeftOut {
  readonly name: string;
  readonly reason: keyof typeof LEFT_OUT_WORDS;
}

/** Counts those of a device, as the engine has left them out. */
export function countLeftOut(
  tally: Tally,
  leftOut: readonly LeftOut[],
  known: KnownAttributes | null,
): void {
  for (const { name, reason } of leftOut) {
    const isDeclared = known?.has(name) ?? true;
    addLeftOut(tally, name, isDeclared ? LEFT_OUT_WORDS[reason] : NOT_DECLARED);
  }
}

function describeAttributes({ attributesLeftOut, attributesNotTaken }: Tally): readonly string[] {
  const lines = Object.entries(attributesLeftOut).map(
    ([reason, count]) => `  ${counted(count, 'value')} left out: ${reason}`,
  );
  if (attributesNotTaken === 0) return lines;
  return [...lines, `  ${counted(attributesNotTaken, 'value')} left out by --without-attributes`];
}

/** Devices of the file that are not in the database. */
export const lostOf = ({ faults, results }: Tally): number =>
  faults + (results['limit'] ?? 0) + (results['refused'] ?? 0);
