/** The flags that say on which platform and in which app a device is. */

import { PLATFORM_FLAG, readNumber, UsageError } from '../arguments.ts';
import type { Session } from './publisher-command.ts';

export const DEVICE_FLAGS = {
  platform: { ...PLATFORM_FLAG, about: 'its platform' },
  app: { type: 'string', value: 'app', about: 'its app; else that of the profile' },
} as const;

/** The app that is given, else that of the profile. */
export function appIdOf({ profile }: Session, given: string | undefined): number {
  if (given !== undefined) return readNumber('--app', given);
  if (profile.app !== null) return profile.app.id;
  throw new UsageError('--app is missing: the profile has no app');
}
