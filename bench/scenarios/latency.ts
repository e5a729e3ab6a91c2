/**
 * How near to their full speed senders stay when the provider is far away, and what other clients
 * of FCM and Web Push do.
 */

import type { Scenario } from '../scenario.ts';
import { measureFcm } from './latency/fcm.ts';
import { measureRoundTrips } from './latency/round-trips.ts';
import { measureWebPush } from './latency/web-push.ts';

export const latency: Scenario = {
  summary:
    'APNs from afar (simulator, 200-byte bodies); FCM and Web Push beside other clients; rounds in turns, medians; CPU of the client’s process only',
  async run(stage) {
    const apns = await measureRoundTrips(stage);
    const fcm = await measureFcm(stage);
    const webPush = await measureWebPush(stage);
    return {
      ...webPush,
      rows: [...apns.rows, ...fcm.rows, ...webPush.rows],
      ratios: { ...apns.ratios, ...fcm.ratios, ...webPush.ratios },
    };
  },
  parts: { apns: measureRoundTrips, fcm: measureFcm, 'web-push': measureWebPush },
};
