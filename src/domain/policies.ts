/** The policies of a client: categories of pushes, and how many of them a device may get. */

import { z } from 'zod';
import { nearestName } from '../std/nearest-name.ts';
import { strictForm } from '../std/strict-form.ts';

/** @publisherLimit categories of a client → `400` */
export const CATEGORIES_MAX = 20;
/** @publisherLimit caps of a category → `400` */
const CAPS_MAX = 4;
/** @publisherLimit pushes that a cap allows a device in its window → `400` */
const CAP_MAX = 100;
const HOUR_MS = 3_600_000;
/** @publisherLimit the window of a cap → `400` */
export const CAP_WINDOW_MS_MAX = 168 * HOUR_MS;

export interface Policies {
  readonly timezone: string;
  readonly categories: readonly Category[];
}

export interface Category {
  readonly name: string;
  readonly default?: boolean | undefined;
  readonly caps?: readonly Cap[] | undefined;
}

export interface Cap {
  readonly max: number;
  /** Hours or days: `24h`, `7d`. */
  readonly per: string;
  /** Counts pushes of the category, or of every one. Absent: of the category. */
  readonly of?: 'category' | 'all' | undefined;
}

/** The limits that a job is held to, as they are kept with it. */
export interface CapTerms {
  readonly category: string;
  /** None: its devices take their places, and no device is left out. */
  readonly limits: readonly CapLimit[];
  /** The push said that it ignores the caps of its category. */
  readonly areIgnored?: true;
}

export interface CapLimit {
  readonly max: number;
  readonly perMs: number;
  readonly of: 'category' | 'all';
}

/** The category of a push and its caps, kept with the job as they were at its acceptance. */
export interface PushPolicy {
  readonly category: string;
  /** Null: it takes no places. */
  readonly caps: CapTerms | null;
}

export const NO_POLICIES: Policies = { timezone: 'UTC', categories: [] };

/** An offset is no name. */
const NAMED = /^[A-Za-z]/;
const WINDOW = /^([1-9]\d{0,2})([hd])$/;

const NAME_FAULT = 'must be a small letter, then at most 31 of small letters, digits, - and _';
const PER_FAULT = 'must be whole hours or days from "1h" to "7d"';
const MAX_FAULT = `must be 1–${CAP_MAX}`;

/** The name that a request may give. */
export const categoryName = z.string(NAME_FAULT).regex(/^[a-z][a-z0-9_-]{0,31}$/, NAME_FAULT);

const cap = strictForm({
  max: z.int(MAX_FAULT).min(1, MAX_FAULT).max(CAP_MAX, MAX_FAULT),
  per: z
    .string(PER_FAULT)
    .refine((text) => windowMs(text) !== null, PER_FAULT)
    .meta({ description: 'A rolling window of whole hours or days, from `1h` to `7d`.' }),
  of: z
    .enum(['category', 'all'], 'must be category or all')
    .optional()
    .meta({ description: '`all` counts pushes of every category. Absent: of this one.' }),
});

const category = strictForm({
  name: categoryName,
  default: z
    .boolean('must be true or false')
    .optional()
    .meta({ description: 'Whether pushes that name no category are of this one.' }),
  caps: z
    .array(cap, 'must be a list')
    .max(CAPS_MAX, `must have ${CAPS_MAX} entries at most`)
    .optional()
    .meta({ description: 'All of them hold. Absent: no push of the category is withheld.' }),
});

export const policiesForm = strictForm({
  timezone: z
    .string('must be the IANA name of a time zone')
    .refine(isZone, 'must be the IANA name of a time zone, as Europe/Zurich')
    .optional()
    .meta({ description: 'The time zone of the client, by its IANA name. Absent: UTC.' }),
  categories: z
    .array(category, 'must be a list')
    .max(CATEGORIES_MAX, `must have ${CATEGORIES_MAX} entries at most`)
    .superRefine((categories, context) => {
      const seen = new Set<string>();
      for (const [index, { name }] of categories.entries()) {
        if (seen.has(name)) {
          context.addIssue({ code: 'custom', path: [index, 'name'], message: 'is there twice' });
        }
        seen.add(name);
      }
      const defaults = categories.filter((one) => one.default === true).length;
      if (categories.length > 0 && defaults !== 1) {
        context.addIssue({ code: 'custom', message: 'must have one that is the default' });
      }
    }),
}).meta({ id: 'PoliciesRequest' });

function isZone(name: string): boolean {
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    return NAMED.test(name) && timeZone !== '';
  } catch {
    return false;
  }
}

/** Null: it is no window. */
function windowMs(per: string): number | null {
  const [, digits = '', unit] = WINDOW.exec(per) ?? [];
  if (digits === '') return null;
  const ms = Number(digits) * (unit === 'd' ? 24 : 1) * HOUR_MS;
  return ms <= CAP_WINDOW_MS_MAX ? ms : null;
}

/** A limit as its policy may have had it. */
export function capOf({ max, perMs, of }: CapLimit): Cap {
  const hours = perMs / HOUR_MS;
  return { max, per: hours % 24 === 0 ? `${hours / 24}d` : `${hours}h`, of };
}

/** The category that a push is of; null: it names none, and there is none. Or what is wrong. */
export function categoryOf(
  { categories }: Policies,
  name: string | undefined,
):
  | { readonly ok: true; readonly category: Category | null }
  | { readonly ok: false; readonly why: string } {
  if (name === undefined) {
    const found = categories.find((one) => one.default === true) ?? null;
    return { ok: true, category: found };
  }
  const found = categories.find((one) => one.name === name);
  if (found !== undefined) return { ok: true, category: found };
  const [first, ...others] = categories.map((one) => one.name);
  const why =
    first === undefined
      ? 'is no category of the client: its policies have none.'
      : `is no category of the client; the nearest is ${nearestName(name, [first, ...others])}.`;
  return { ok: false, why };
}

/**
 * The limits that a push of a category is held to. Null: it takes no places. `areIgnored`: it
 * leaves no device out, and counts towards later pushes.
 */
export function capTermsOf(
  { categories }: Policies,
  { name, caps = [] }: Category,
  areIgnored: boolean,
): CapTerms | null {
  const isCounted =
    caps.length > 0 || categories.some((one) => one.caps?.some(({ of }) => of === 'all') ?? false);
  if (!isCounted) return null;
  if (areIgnored) return { category: name, limits: [], areIgnored };
  const limits = caps.map(({ max, per, of = 'category' }) => ({
    max,
    perMs: windowMs(per) ?? 0,
    of,
  }));
  return { category: name, limits };
}
