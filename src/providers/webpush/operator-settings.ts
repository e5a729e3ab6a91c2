/** The operator's list of push services; FCM's settings apply to browsers' FCM tokens. */

import { list } from '../../std/setting-forms.ts';
import { isPushHost } from './allow-list.ts';

export const WEB_PUSH_SETTINGS = {
  WEB_PUSH_HOSTS: list
    .refine((entries) => entries.every(isPushHost), {
      error: 'must be hosts, host:port or *.domain, separated by commas',
    })
    .optional()
    .describe(
      'Push services of browsers that Tagcast may send to, separated by commas: a host, *.domain, or host:port, which may also be on this machine. Default: those of Google, Mozilla, Apple and Microsoft; the simulator when it runs.',
    ),
};
