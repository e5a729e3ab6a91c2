/** The events that a webhook may receive. */

export const WEBHOOK_EVENT_TYPES = [
  'job.finished',
  // A job has ended, and policies of the client had left devices out of it.
  'notification.withheld',
  // Devices were erased, because their provider said that their tokens are dead.
  'token.removed',
  'token.replaced',
  // Pushes of an app fail or will fail, because of its provider credential.
  'credential.trouble',
] as const;
export type WebhookEventType = (typeof WEBHOOK_EVENT_TYPES)[number];

/** `dead`: given up, until somebody replays it. */
export const DELIVERY_STATES = ['pending', 'delivered', 'dead'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];
