/** Makes the text under which a browser's subscription is registered, from its parts. */

interface SubscriptionParts {
  readonly endpoint: string;
  readonly p256dh: string;
  readonly auth: string;
}

/** Mozilla's push service: the only one whose browsers name `auth` first. */
const MOZILLA = /^https:\/\/[^/]*\.mozilla\.(com|org)\//;

/**
 * The text that `JSON.stringify(subscription)` gives in a browser of that push service. So a page
 * that registers its subscription again finds the imported device (a device is known by its text:
 * docs/reference/api.md).
 */
export function subscriptionText({ endpoint, p256dh, auth }: SubscriptionParts): string {
  const keys = MOZILLA.test(endpoint) ? { auth, p256dh } : { p256dh, auth };
  return JSON.stringify({ endpoint, expirationTime: null, keys });
}
