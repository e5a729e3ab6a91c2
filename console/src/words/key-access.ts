/** Says in words which permissions and limits a further key has. */

import type { Key } from '../../../packages/client/src/openapi.ts';
import { keyTexts as texts } from '../texts/keys.ts';

export const permissionsOf = ({ scopes }: Key): string =>
  scopes.map((scope) => texts.scopeNames[scope]).join(', ');

export const limitsOf = ({ tagIds = [], groupIds = [], appIds = [] }: Key): string =>
  texts.limitedTo(tagIds.length, groupIds.length, appIds.length) || texts.everything;

/** Both in one line. */
export const accessOf = (key: Key): string => `${permissionsOf(key)} · ${limitsOf(key)}`;
