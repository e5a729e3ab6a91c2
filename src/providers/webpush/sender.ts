/**
 * The sender of Web Push: to the push service of each browser, or through FCM. The service is known
 * only with the device, so sends wait here, and `capacity` says how many more may. A slow service
 * slows the sender down; one that does not answer does not.
 */

import type { DeviceToken } from '../../domain/device.ts';
import type { Message } from '../../domain/notification.ts';
import type { Outcome } from '../../domain/outcome.ts';
import { TurnClock } from '../../std/turn-clock.ts';
import type {
  Answer,
  Rendered,
  RequestTemplate,
  Settle,
  Transport,
} from '../../transport/transport.ts';
import { fcmOutcome } from '../fcm/answer.ts';
import type { ServiceAccount } from '../fcm/credential.ts';
import type { RenderedFcm } from '../fcm/message.ts';
import { fcmToken } from '../fcm/sender.ts';
import type { FcmTarget } from '../fcm/target.ts';
import { targetFieldOf } from '../fcm/target.ts';
import type { Sender } from '../sender.ts';
import { Unsent } from '../unsent.ts';
import type { Admission } from './allow-list.ts';
import { AllowList } from './allow-list.ts';
import { webPushOutcome } from './answer.ts';
import type { WebPushCredential } from './credential.ts';
import { VapidSigner, VapidToken } from './credentials.ts';
import { recordOf } from './encryption.ts';
import { renderForFcm } from './fcm-message.ts';
import { pushContent, renderPush } from './message.ts';
import type { PushSend } from './push-service.ts';
import { NO_ANSWER, PushService } from './push-service.ts';
import { HELD_MAX, HELD_PER_SERVICE_MAX, SERVICES_MAX, TURN_SENDS_MAX } from './settings.ts';
import { readDevice } from './subscription.ts';

/** Makes a transport to one service. `kind`: the limits that it gets. */
type MakeTransport = (
  kind: 'push' | 'fcm',
  origin: string,
  admission: Exclude<Admission, 'no'>,
  outcomeOf: (answer: Answer) => Outcome,
) => Transport;

interface WebPushOptions {
  readonly hosts: readonly string[];
  readonly fcmOrigin: string;
  readonly fcmTarget: FcmTarget;
  /** FCM's authorization. Empty: there is none. */
  readonly authorization: string;
  readonly makeTransport: MakeTransport;
}

interface RenderedWebPush extends Rendered {
  readonly push: RequestTemplate;
  readonly record: Buffer;
  readonly fcm: RenderedFcm | null;
}

type Aim = { readonly service: PushService } & Pick<PushSend, 'template' | 'token' | 'sealed'>;

/** How often it looks for services that do not answer, while sends are under way. */
const SWEEP_EVERY_MS = 250;
/** The name of the service for FCM tokens; no origin looks like it. */
const FCM = 'fcm';

const unasked = (reason: string): Outcome =>
  Object.freeze({ kind: 'bad-token', reason, isUnasked: true });
const REMOVED: Outcome = Object.freeze({
  kind: 'gone',
  reason: 'SubscriptionRemoved',
  sinceMs: null,
  isUnasked: true,
});
const NOT_ALLOWED = unasked('EndpointNotAllowed');
const NO_VAPID_KEY = unasked('MissingVapidKey');
const NO_ACCOUNT = unasked('MissingServiceAccount');
const TOO_MANY: Outcome = Object.freeze({
  kind: 'unavailable',
  reason: 'TooManyPushServices',
  retryAfterMs: null,
  isOneHost: true,
});
const NO_ACCESS_TOKEN: Outcome = Object.freeze({
  kind: 'expired-authorization',
  reason: 'NoAccessToken',
  isOneHost: true,
});

export class WebPushSender implements Sender {
  readonly #options: WebPushOptions;
  readonly #allowList: AllowList;
  readonly #signer: VapidSigner | null;
  readonly #account: ServiceAccount | null;
  readonly #turnClock = new TurnClock();
  /** Keyed by origin. The one unused for longest is first. */
  readonly #services = new Map<string, PushService>();
  readonly #closing = new Set<Promise<void>>();
  #authorization: string;
  #wakes: (() => void)[] = [];
  readonly #unsent = new Unsent();
  #isPumping = false;
  #isClosing = false;
  #sweeper: NodeJS.Timeout | null = null;

  constructor(credential: WebPushCredential, options: WebPushOptions) {
    this.#options = options;
    this.#allowList = new AllowList(options.hosts);
    this.#signer = credential.vapid === null ? null : new VapidSigner(credential.vapid);
    this.#account = credential.serviceAccount;
    this.#authorization = options.authorization;
  }

  get capacity(): number {
    if (this.#isClosing) return 0;
    let held = this.#unsent.count;
    for (const service of this.#services.values()) {
      if (service.isStuck) continue;
      if (service.held >= HELD_PER_SERVICE_MAX) return 0;
      held += service.held;
    }
    return Math.max(0, HELD_MAX - held);
  }

  render(message: Message): RenderedWebPush {
    const nowMs = Date.now();
    const push = renderPush(message, nowMs);
    return {
      payloadBytes: push.payloadBytes,
      push,
      record: recordOf(Buffer.from(pushContent(message))),
      fcm: this.#account === null ? null : renderForFcm(message, this.#account, nowMs),
    };
  }

  whenReady(): Promise<void> {
    if (this.#isClosing || this.capacity > 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wakes.push(resolve);
    });
  }

  send(rendered: RenderedWebPush, deviceId: DeviceToken, position: number, settle: Settle): void {
    const aim = this.#aim(rendered, String(deviceId));
    if ('kind' in aim) {
      this.#settleUnsent(position, settle, aim);
      return;
    }
    const { service, template, token, sealed } = aim;
    const askedAtMs = this.#turnClock.nowMs();
    const refusal = service.refusalOf(template, askedAtMs) ?? this.#leftBehind(service);
    if (refusal !== null) {
      this.#settleUnsent(position, settle, this.#contained(service, refusal));
      return;
    }
    service.add({ template, token, sealed, position, settle, askedAtMs });
    this.#startSweeping();
    this.#pumpSoon();
  }

  /** Opens nothing: the services that a notification needs are known only with its devices. */
  warm(): void {}

  authorize(authorization: string): void {
    if (authorization === this.#authorization) return;
    this.#authorization = authorization;
    this.#services.get(FCM)?.authorize(authorization);
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#wake();
    for (const service of this.#services.values()) this.#close(service);
    await Promise.all(this.#closing);
    if (this.#sweeper !== null) clearInterval(this.#sweeper);
    await this.#unsent.settled();
  }

  #aim(rendered: RenderedWebPush, deviceId: string): Aim | Outcome {
    const device = readDevice(deviceId, Date.now());
    switch (device.kind) {
      case 'unusable':
        return unasked(device.reason);
      case 'removed':
        return REMOVED;
      case 'fcm-token': {
        if (rendered.fcm === null) return NO_ACCOUNT;
        if (this.#authorization === '') return NO_ACCESS_TOKEN;
        const service = this.#serviceOf(FCM, 'named', null);
        if (service === null) return TOO_MANY;
        const template = rendered.fcm[targetFieldOf(deviceId, this.#options.fcmTarget)];
        return { service, template, token: fcmToken(deviceId), sealed: null };
      }
      case 'subscription': {
        const { origin, path, recipient } = device;
        if (this.#signer === null) return NO_VAPID_KEY;
        const admission = this.#allowList.admissionOf(origin);
        if (admission === 'no') return NOT_ALLOWED;
        const service = this.#serviceOf(origin, admission, this.#signer);
        if (service === null) return TOO_MANY;
        const { push, record } = rendered;
        return { service, template: push, token: path, sealed: { record, recipient } };
      }
    }
  }

  /** Null: the sender has too many services, and all of them are busy. */
  #serviceOf(
    name: string,
    admission: Exclude<Admission, 'no'>,
    signer: VapidSigner | null,
  ): PushService | null {
    const known = this.#services.get(name);
    if (known === undefined && !this.#makeRoom()) return null;
    const service = known ?? this.#open(name, admission, signer);
    this.#services.delete(name);
    this.#services.set(name, service);
    return service;
  }

  #open(
    name: string,
    admission: Exclude<Admission, 'no'>,
    signer: VapidSigner | null,
  ): PushService {
    const { makeTransport, fcmOrigin } = this.#options;
    const isFcm = signer === null;
    const service = new PushService({
      makeTransport: (outcomeOf) =>
        makeTransport(isFcm ? 'fcm' : 'push', isFcm ? fcmOrigin : name, admission, outcomeOf),
      outcomeOf: isFcm ? fcmOutcome : webPushOutcome,
      vapid: isFcm ? null : new VapidToken(signer, name),
      ended: (of, send, outcome) => this.#ended(of, send, outcome),
      ready: () => this.#pumpSoon(),
    });
    if (isFcm) service.authorize(this.#authorization);
    return service;
  }

  #makeRoom(): boolean {
    if (this.#services.size < SERVICES_MAX) return true;
    for (const [name, service] of this.#services) {
      if (service.held > 0) continue;
      this.#services.delete(name);
      this.#close(service);
      return true;
    }
    return false;
  }

  #close(service: PushService): void {
    const closed = service.close().finally(() => this.#closing.delete(closed));
    this.#closing.add(closed);
  }

  /** A service that does not answer takes only its probes. */
  #leftBehind(service: PushService): Outcome | null {
    return service.isStuck && service.isFull ? NO_ANSWER : null;
  }

  /** Marks an outcome as one service's own: another may take the key or message, or work. */
  #contained(service: PushService, outcome: Outcome): Outcome {
    switch (outcome.kind) {
      case 'bad-credential':
      case 'bad-message':
        return { ...outcome, isOneHost: true };
      case 'expired-authorization':
      case 'throttled-target':
      case 'unavailable':
      case 'refused':
      case 'unknown':
        return this.#anotherWorks(service) ? { ...outcome, isOneHost: true } : outcome;
      case 'delivered':
      case 'gone':
      case 'bad-token':
      case 'throttled-device':
        return outcome;
    }
  }

  #anotherWorks(service: PushService): boolean {
    const nowMs = performance.now();
    for (const other of this.#services.values()) {
      if (other !== service && other.works(nowMs)) return true;
    }
    return false;
  }

  #ended(service: PushService, { position, settle }: PushSend, outcome: Outcome): void {
    settle(position, this.#contained(service, outcome));
    this.#wake();
  }

  #settleUnsent(position: number, settle: Settle, outcome: Outcome): void {
    const settleAndWake: Settle = (ended, how) => {
      settle(ended, how);
      this.#wake();
    };
    this.#unsent.settle(position, settleAndWake, outcome);
  }

  #pumpSoon(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    setImmediate(() => {
      this.#isPumping = false;
      this.#pump();
    });
  }

  /** One for each service in turn; goes on in the event loop's next turn. */
  #pump(): void {
    const nowMs = performance.now();
    let left = TURN_SENDS_MAX;
    let ready = [...this.#services.values()].filter(({ isWaiting }) => isWaiting);
    while (left > 0 && ready.length > 0) {
      const sent = ready.slice(0, left).filter((service) => service.sendNext(nowMs));
      // Services that this round did not reach come first in the next one.
      ready = [...ready.slice(left), ...sent];
      left -= sent.length;
    }
    if (ready.length > 0) this.#pumpSoon();
  }

  #wake(): void {
    if (this.#wakes.length === 0 || (!this.#isClosing && this.capacity === 0)) return;
    const wakes = this.#wakes;
    this.#wakes = [];
    for (const wake of wakes) wake();
  }

  #startSweeping(): void {
    this.#sweeper ??= setInterval(() => this.#sweep(), SWEEP_EVERY_MS).unref();
  }

  #sweep(): void {
    const nowMs = performance.now();
    let isHeld = false;
    for (const service of this.#services.values()) {
      service.sweep(nowMs);
      isHeld ||= service.held > 0;
    }
    this.#wake();
    if (isHeld || this.#sweeper === null) return;
    clearInterval(this.#sweeper);
    this.#sweeper = null;
  }
}
