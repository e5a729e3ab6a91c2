/** The notification that is being composed: kept in this browser until it is sent. */

import type { Tag, TagGroup } from '../../../packages/client/src/openapi.ts';
import type { MoreFields } from '../texts/payload-fields.ts';
import { moreOf } from '../texts/payload-fields.ts';

export type PickedGroup = Pick<TagGroup, 'id' | 'name'>;

/** The fields of a tag that its chip shows. */
export interface PickedTag extends Pick<Tag, 'id' | 'name' | 'sourceId'> {
  /** It was chosen with all tags of this group. */
  readonly group?: PickedGroup;
}

export interface DraftFields extends MoreFields {
  any: PickedTag[];
  all: PickedTag[];
  none: PickedTag[];
  isExpression: boolean;
  expression: string;
  title: string;
  message: string;
  url: string;
  image: string;
  data: string;
  isSilent: boolean;
  when: 'now' | 'later';
  /** The value of the input, in the viewer's zone. */
  sendAt: string;
  expiresMinutes: number;
  ratePerSecond: number | null;
  isUrgent: boolean;
}

const EMPTY: DraftFields = {
  any: [],
  all: [],
  none: [],
  isExpression: false,
  expression: '',
  title: '',
  message: '',
  url: '',
  image: '',
  ...moreOf({}),
  data: '',
  isSilent: false,
  when: 'now',
  sendAt: '',
  expiresMinutes: 0,
  ratePerSecond: null,
  isUrgent: false,
};

const PREFIX = 'tagcast-draft-';
const keyOf = (clientId: string): string => PREFIX + clientId;

export class Draft {
  fields = $state<DraftFields>({ ...EMPTY });
  readonly #key: string;

  constructor(clientId: string) {
    this.#key = keyOf(clientId);
    const kept = localStorage.getItem(this.#key);
    // A draft of an earlier version may lack fields, and has no others that matter.
    if (kept !== null) this.fields = { ...EMPTY, ...JSON.parse(kept) };
  }

  /** Called whenever a field has changed. */
  keep(): void {
    localStorage.setItem(this.#key, JSON.stringify(this.fields));
  }

  clear(): void {
    this.fields = { ...EMPTY };
  }
}

/** Puts what was sent before into the draft, to be sent again. */
export function keepAsDraft(clientId: string, fields: Partial<DraftFields>): void {
  localStorage.setItem(keyOf(clientId), JSON.stringify({ ...EMPTY, ...fields }));
}

/** Forgets all drafts of this browser: the next person to sign in may be another one. */
export function forgetDrafts(): void {
  for (const key of Object.keys(localStorage)) {
    if (key.startsWith(PREFIX)) localStorage.removeItem(key);
  }
}
