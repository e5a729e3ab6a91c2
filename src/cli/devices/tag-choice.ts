/** `--tags` and `--without-tags` of an import: which tags of a file it takes. */

import type { FileTag } from '../../../packages/device-files/src/file-device.ts';
import { UsageError } from '../arguments.ts';

export interface TagChoice {
  /** Whether `--tags` names those that are taken. */
  readonly isNamed: boolean;
  /** The same for the same choice, to compare it with that of an earlier run. */
  readonly text: string;
  takes(tag: FileTag): boolean;
}

/** Undefined flags: every tag is taken. */
export function readTagChoice(only: string | undefined, without: string | undefined): TagChoice {
  const wanted = only === undefined ? null : readNames('--tags', only);
  const unwanted = without === undefined ? [] : readNames('--without-tags', without);
  return {
    isNamed: wanted !== null,
    text: JSON.stringify([wanted, unwanted]),
    takes(tag) {
      const name = nameOf(tag);
      const isMeant = (pattern: string): boolean => matches(pattern, name);
      return (wanted === null || wanted.some(isMeant)) && !unwanted.some(isMeant);
    },
  };
}

/** The text by which a file knows a tag. */
export const nameOf = ({ sourceId, name, id }: FileTag): string => sourceId ?? name ?? `#${id}`;

/** The text before the first colon: `plan` of `plan:pro`, and of `plan`. */
export function keyOf(tag: FileTag): string {
  const name = nameOf(tag);
  const end = name.indexOf(':');
  return end === -1 ? name : name.slice(0, end);
}

/** `plan` means the tag `plan` and every `plan:…`; `news*` means what begins so. */
const matches = (pattern: string, name: string): boolean =>
  pattern.endsWith('*')
    ? name.startsWith(pattern.slice(0, -1))
    : name === pattern || name.startsWith(`${pattern}:`);

function readNames(flag: string, text: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  if (names.includes('')) throw new UsageError(`${flag} must be names of tags with commas between`);
  return names;
}
