/** Firebase Cloud Messaging with Google's token endpoint, as the simulator plays them. */

import { z } from 'zod';
import { isObject, parseJson } from '../../../std/src/json.ts';
import type { ControlAnswer, ControlCall } from '../control/control-answer.ts';
import { invalid, ok } from '../control/control-answer.ts';
import { AccessTokens } from '../oauth/access-tokens.ts';
import { createOAuth, TOKEN_PATH } from '../oauth/oauth.ts';
import { providerClock } from '../options.ts';
import { ProviderRecord } from '../record/record.ts';
import type { Handler } from '../server/exchange.ts';
import type { SimulatedProvider } from '../simulated-provider.ts';
import { createFcm } from './fcm.ts';
import { isInstallationId } from './fcm-message.ts';
import { fcmShown } from './fcm-shown.ts';
import { Installations } from './installations.ts';

export interface FcmOrigins {
  readonly fcmOrigin: string;
  /** The same listener. */
  readonly oauthOrigin: string;
}

export const FCM: SimulatedProvider<FcmOrigins> = {
  portFlag: { name: 'fcm-port', of: 'FCM and of the OAuth token endpoint' },
  // Facts, 2.6.
  connection: { maxConcurrentStreams: 100, goAwayText: 'max_age' },
  originsOf: (origin) => ({ fcmOrigin: origin, oauthOrigin: origin }),
  shownBy: fcmShown,
  play: ({ book, accounts }) => {
    const oauth = new ProviderRecord();
    const accessTokens = new AccessTokens();
    const installations = new Installations();
    const now = providerClock(book.live);
    return {
      handle: byPath(
        createOAuth(oauth, accounts, accessTokens, now),
        createFcm(book, accessTokens, installations, now),
      ),
      records: { oauth },
      routesAt: () => [
        ['fcm/installations/:fid', { PUT: (call) => putInstallation(installations, call) }],
      ],
      reset: () => installations.clear(),
    };
  },
};

/** FCM and the token endpoint share a listener; the path decides which one answers. */
function byPath(oauth: Handler, fcm: Handler): Handler {
  return (request) => (request.path === TOKEN_PATH ? oauth(request) : fcm(request));
}

const installationSchema = z.strictObject({
  fid: z.string().refine(isInstallationId, 'is no Firebase installation ID'),
  by: z.enum(['fid', 'token']),
});

/** From now on the installation is reached only by its id, or only by its token. */
function putInstallation(
  installations: Installations,
  { parameters, body }: ControlCall,
): ControlAnswer {
  const told = parseJson(body);
  const installation = installationSchema.safeParse({
    ...(isObject(told) ? told : {}),
    fid: parameters['fid'],
  });
  if (!installation.success) return invalid(installation.error);
  const { fid, by } = installation.data;
  installations.register(fid, by);
  return ok(installation.data);
}
