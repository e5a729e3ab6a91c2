/** The state that an import keeps beside its file, to go on after an interruption. */

import { z } from 'zod';
import type { FormatName } from '../../../packages/device-files/src/formats.ts';
import { FORMAT_NAMES } from '../../../packages/device-files/src/formats.ts';
import { UsageError } from '../arguments.ts';
import { readState } from '../state-file.ts';
import type { AttributeChoice } from './attribute-choice.ts';
import { NO_CHOICE } from './attribute-choice.ts';
import type { ImportInput } from './import-input.ts';
import { emptyTally, tallyForm } from './import-tally.ts';
import type { TagChoice } from './tag-choice.ts';

export interface ImportRequest {
  readonly appId: number;
  readonly format: FormatName;
  readonly replacesTags: boolean;
  readonly createsTags: boolean;
  readonly choice: TagChoice;
  readonly attributeChoice: AttributeChoice;
  /** The import stops after more bad records than this. */
  readonly faultsMax: number;
  /** Null: no state is kept. */
  readonly statePath: string | null;
  /** Records to skip when there is no state. */
  readonly resumeFrom: number;
  readonly isJson: boolean;
}

const stateForm = z.object({
  command: z.literal('devices import'),
  appId: z.number(),
  format: z.enum(FORMAT_NAMES),
  replacesTags: z.boolean(),
  tags: z.string(),
  // Absent in the state of an import that an earlier version began.
  attributes: z.string().default(NO_CHOICE),
  fingerprint: z.string().nullable(),
  /** The database's time: registrations since then are newer than the file. */
  startedAtMs: z.number(),
  records: z.number(),
  tally: tallyForm,
});

export type ImportState = z.infer<typeof stateForm>;

/** The state of an earlier run of the same import, or a new one. */
export async function beginState(
  { appId, format, replacesTags, choice, attributeChoice, statePath, resumeFrom }: ImportRequest,
  { fingerprint }: ImportInput,
  startedAtMs: number,
): Promise<ImportState> {
  const chosen = { tags: choice.text, attributes: attributeChoice.text };
  const asked = { appId, format, replacesTags, ...chosen, fingerprint };
  const known = statePath === null ? null : await readState(statePath, stateForm);
  if (known === null) {
    const started = { startedAtMs, records: resumeFrom, tally: emptyTally() };
    return { command: 'devices import', ...asked, ...started };
  }
  const differs = WHAT_STAYS.find((name) => known[name] !== asked[name]);
  if (differs === undefined) return known;
  throw new UsageError(
    `${statePath} belongs to an import that was begun with another ${WORDS[differs]}: go on with that one, or remove the file to begin again`,
  );
}

const WHAT_STAYS = [
  ...(['appId', 'format', 'replacesTags', 'tags', 'attributes', 'fingerprint'] as const),
];

const WORDS = {
  appId: 'app',
  format: '--format',
  replacesTags: '--replace-tags',
  tags: '--tags or --without-tags',
  attributes: '--attributes or --without-attributes',
  fingerprint: 'file',
} as const;
