/** The text that a browser's subscription is registered under, made of its parts. */

export interface SubscriptionParts {
  readonly endpoint: string;
  readonly p256dh: string;
  readonly auth: string;
}

/** Mozilla's push service: the only one whose browsers name `auth` first. */
const MOZILLA = /^https:\/\/[^/]*\.mozilla\.(com|org)\//;

/**
 * As `JSON.stringify(subscription)` gives it in the browser of that push service, so that a page
 * that registers its subscription again finds the device that was imported (a device is known by
 * its text: docs/api.md).
 */
export function subscriptionText({ endpoint, p256dh, auth }: SubscriptionParts): string {
  const keys = MOZILLA.test(endpoint) ? { auth, p256dh } : { p256dh, auth };
  return JSON.stringify({ endpoint, expirationTime: null, keys });
}
