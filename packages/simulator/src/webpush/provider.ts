/** The push service of a browser's maker, as the simulator plays it. */

import { z } from 'zod';
import { parseJson } from '../../../std/src/json.ts';
import type { ControlAnswer, ControlCall } from '../control/control-answer.ts';
import { invalid } from '../control/control-answer.ts';
import { providerClock } from '../options.ts';
import type { SimulatedProvider } from '../simulated-provider.ts';
import { PushSubscriptions } from './push-subscriptions.ts';
import { createWebPush } from './web-push.ts';
import { webPushShown } from './web-push-shown.ts';

export interface WebPushOrigins {
  readonly webPushOrigin: string;
}

export const WEB_PUSH: SimulatedProvider<WebPushOrigins> = {
  portFlag: { name: 'web-push-port', of: "the browsers' push service" },
  connection: { maxConcurrentStreams: 100, goAwayText: '' },
  originsOf: (webPushOrigin) => ({ webPushOrigin }),
  shownBy: webPushShown,
  play: ({ book }) => {
    const subscriptions = new PushSubscriptions();
    return {
      handle: createWebPush(book, subscriptions, providerClock(book.live)),
      routesAt: (origin) => [
        [
          'webpush/subscriptions',
          { POST: (call) => postSubscriptions(subscriptions, origin, call) },
        ],
      ],
    };
  },
};

/**
 * A browser's keys cost 24 µs: this many in one request take a quarter of a second.
 * @limit browsers made in one request → refused
 */
const SUBSCRIPTIONS_MAX = 10_000;

const subscriptionsSchema = z.strictObject({
  count: z.number().int().min(1).max(SUBSCRIPTIONS_MAX).default(1),
  /**
   * The key that the page subscribes with, in base64url; absent: a push service that accepts any
   * key.
   */
  applicationServerKey: z.string().min(1).optional(),
});

/** Makes browsers that have subscribed, with this key or with any. */
function postSubscriptions(
  subscriptions: PushSubscriptions,
  origin: string,
  { body }: ControlCall,
): ControlAnswer {
  const wish = subscriptionsSchema.safeParse(body === '' ? {} : parseJson(body));
  if (!wish.success) return invalid(wish.error);
  const { count, applicationServerKey } = wish.data;
  const made = Array.from({ length: count }, () =>
    subscriptions.subscribe(origin, applicationServerKey),
  );
  return { status: 201, body: made };
}
