/** The texts that a phone shows of a message as its provider gets it. */

import { isObject } from '../../../packages/std/src/json.ts';
import { PLATFORMS } from '../../../packages/std/src/platforms.ts';

export interface ShownTexts {
  readonly title: string;
  /** '': none, or the phone does not show it. */
  readonly subtitle: string;
  readonly message: string;
  readonly image: string;
}

const partOf = (value: unknown, ...names: readonly string[]): unknown =>
  names.reduce((part, name) => (isObject(part) ? part[name] : undefined), value);

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

export function textsOf(platformId: number, message: unknown): ShownTexts {
  if (platformId === PLATFORMS.apns) {
    const alert = partOf(message, 'aps', 'alert');
    return {
      title: textOf(partOf(alert, 'title')),
      subtitle: textOf(partOf(alert, 'subtitle')),
      message: textOf(alert) || textOf(partOf(alert, 'body')),
      image: textOf(partOf(message, 'image')),
    };
  }
  const shown = partOf(message, 'notification') ?? message;
  return {
    title: textOf(partOf(shown, 'title')),
    subtitle: '',
    message: textOf(partOf(shown, 'body')) || textOf(partOf(shown, 'message')),
    image: textOf(partOf(shown, 'image')),
  };
}
