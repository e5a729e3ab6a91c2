/** The rules for names of clients, apps, tags and the like, for every form that makes one. */

import { hasControls } from './visible-text.ts';

/** Whether the database can keep it as text, which holds neither NUL nor lone surrogates. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

export const STORABLE_FAULT = 'must hold neither NUL nor half a surrogate pair';

/** Whether it can be a name: lists, logs and terminals show it in a line. */
export const isNameText = (text: string): boolean => text.isWellFormed() && !hasControls(text);

export const NAME_FAULT =
  'must hold no control characters, such as line feeds and tabs, and no half of a surrogate pair';
