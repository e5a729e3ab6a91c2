/**
 * The requests of apps, publishers and administrators on an ordinary day, as single requests with
 * the answers that are right.
 */

import type { Demo } from '../../../test/support/processes.ts';

export interface SoakRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly token: string;
  readonly body: unknown;
  readonly statuses: readonly number[];
}

const PLATFORM_APNS = 3;
const PLATFORM_FCM = 15;
/** Nearly all registrations are of devices that are there, which start their app. */
const KNOWN_DEVICES = 2_000;
/** The others come and go: bounded, so that what grows is not what is meant to. */
const OTHER_DEVICES = 5_000;
const KNOWN_SHARE = 0.95;
/** Tags that an administrator makes, changes and deletes. */
const CHANGING_TAGS = 10;
const LATER_MS_MIN = 15_000;
const LATER_MS_MAX = 45_000;
const OK = [200];
/** Too many wrong ones of one address get the second. */
const WRONG = [401, 429];

/** Each with how often it comes among a hundred. */
type Kind = readonly [weight: number, make: () => SoakRequest];

export class Requests {
  private readonly demo: Demo;
  private readonly kinds: readonly Kind[];
  private readonly weights: number;
  private administered = 0;

  constructor(demo: Demo) {
    this.demo = demo;
    this.kinds = [
      [62, () => this.app('reg', { tagId: this.someTags() })],
      [15, () => this.app('list', {})],
      [6, () => this.app('ureg', { tagId: this.someTags() })],
      [5, () => this.app('set', { tagId: this.someTags() })],
      [4, () => this.tags()],
      [3, () => this.app('reg', { tagSourceId: [`soak-${whole(CHANGING_TAGS)}`] })],
      [3, () => ({ ...this.app('list', {}), token: 'tca_wrong', statuses: WRONG })],
      [2, () => this.administration()],
    ];
    this.weights = this.kinds.reduce((sum, [weight]) => sum + weight, 0);
  }

  /** One by chance. */
  next(): SoakRequest {
    let left = Math.random() * this.weights;
    for (const [weight, make] of this.kinds) {
      left -= weight;
      if (left < 0) return make();
    }
    return this.tags();
  }

  push(isLater: boolean): SoakRequest {
    const delayMs = LATER_MS_MIN + whole(LATER_MS_MAX - LATER_MS_MIN);
    return this.manage('/push-api/push', {
      tagIds: this.someTags(),
      payload: { title: 'goal!', message: `${whole(5)}:${whole(5)}` },
      ...(isLater ? { sendAt: Date.now() + delayMs } : {}),
    });
  }

  status(job: string): SoakRequest {
    return { ...this.manage(`/push-api/status/${job}`, undefined), method: 'GET' };
  }

  private app(endpoint: string, more: Readonly<Record<string, unknown>>): SoakRequest {
    const isKnown = Math.random() < KNOWN_SHARE;
    const device = isKnown ? whole(KNOWN_DEVICES) : KNOWN_DEVICES + whole(OTHER_DEVICES);
    const isApns = device % 2 === 0;
    return this.ask(endpoint, {
      platformId: isApns ? PLATFORM_APNS : PLATFORM_FCM,
      deviceId: isApns ? device.toString(16).padStart(64, 'a') : `soak-token-${device}`,
      ...more,
    });
  }

  private tags(): SoakRequest {
    return this.ask('tags', { platformId: PLATFORM_APNS });
  }

  private ask(endpoint: string, body: Readonly<Record<string, unknown>>): SoakRequest {
    const { appId, apiUser } = this.demo;
    return {
      method: 'POST',
      path: `/push-api/${endpoint}`,
      token: apiUser.token,
      body: { appId, ...body },
      statuses: OK,
    };
  }

  /**
   * One tag after the other is made, renamed and deleted. Requests may overtake each other: then it
   * is not there.
   */
  private administration(): SoakRequest {
    const step = this.administered % 3;
    const sourceId = `soak-${Math.floor(this.administered / 3) % CHANGING_TAGS}`;
    this.administered += 1;
    const action = ['add', 'update', 'delete'][step];
    const name = step === 2 ? {} : { name: `Soak ${this.administered}` };
    const path = `/push-admin-api/tag/${action}/${this.demo.clientId}`;
    return { ...this.manage(path, { tags: [{ sourceId, ...name }] }), statuses: [200, 404] };
  }

  private manage(path: string, body: unknown): SoakRequest {
    return { method: 'POST', path, token: this.demo.superUser.token, body, statuses: OK };
  }

  /** Two neighbours. */
  private someTags(): readonly number[] {
    const { tagIds } = this.demo;
    const first = whole(tagIds.length);
    return [tagIds[first] ?? 0, tagIds[(first + 1) % tagIds.length] ?? 0];
  }
}

/** 0 to `end` − 1. */
const whole = (end: number): number => Math.floor(Math.random() * end);
