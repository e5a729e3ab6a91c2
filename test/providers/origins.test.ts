import t from 'tap';
import { trustedAt } from '../../src/providers/origins.ts';
import { DEFAULT_ORIGINS } from '../support/default-origins.ts';

t.test(
  "an operator's certificates are trusted where he has put somebody in a provider's place",
  (t) => {
    const origins = { ca: 'PEM' };
    const { apnsProduction, apnsSandbox, fcm, oauth } = DEFAULT_ORIGINS;
    for (const real of [apnsProduction, apnsSandbox, fcm, oauth]) {
      t.equal(trustedAt(real, origins), null, real);
    }
    for (const real of ['web.push.apple.com', 'db5p.notify.windows.com', 'fcm.googleapis.com']) {
      t.equal(trustedAt(`https://${real}`, origins), null, real);
    }
    for (const own of ['simulator:9443', 'api.push.apple.com:2197', 'push.example.com']) {
      t.equal(trustedAt(`https://${own}`, origins), 'PEM', own);
    }
    t.end();
  },
);
