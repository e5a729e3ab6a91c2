/** The Apple Push Notification service, as the simulator plays it. */

import { providerClock } from '../options.ts';
import type { SimulatedProvider } from '../simulated-provider.ts';
import { createApns } from './apns.ts';
import { apnsShown } from './apns-shown.ts';

export interface ApnsOrigins {
  readonly apnsOrigin: string;
}

export const APNS: SimulatedProvider<ApnsOrigins> = {
  portFlag: { name: 'apns-port', of: 'APNs' },
  // Facts, 1.3 and 1.8.
  connection: {
    maxConcurrentStreams: 1_000,
    streamsAtStart: 1,
    goAwayText: '{"reason":"Shutdown"}',
  },
  originsOf: (apnsOrigin) => ({ apnsOrigin }),
  shownBy: apnsShown,
  play: ({ book, accounts }) => ({
    handle: createApns(book, accounts, providerClock(book.live)),
    tokenOf: (token) => token.toLowerCase(),
  }),
};
