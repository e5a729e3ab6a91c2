/**
 * The provider simulator: an APNs, an FCM, a Google token endpoint and a browser's push service on
 * loopback that check and answer as the real ones do. People who try Tagcast send through it; tests
 * and benches use it as their peer.
 */

import { AccountBook } from './account-book.ts';
import type { ProviderAccounts } from './accounts.ts';
import { createAccounts } from './accounts.ts';
import { createApns } from './apns/apns.ts';
import { startControl } from './control/control.ts';
import type { Behaviour } from './faults/behaviour.ts';
import { KIND_BEHAVIOUR } from './faults/behaviour.ts';
import type { PushBook } from './faults/fate.ts';
import { OutageClock } from './faults/outage-clock.ts';
import { Scripts } from './faults/scripts.ts';
import { createFcm } from './fcm/fcm.ts';
import { Installations } from './fcm/installations.ts';
import { AccessTokens } from './oauth/access-tokens.ts';
import { createOAuth, TOKEN_PATH } from './oauth/oauth.ts';
import type { LiveBehaviour, SimulatorOptions } from './options.ts';
import { changeBehaviour } from './options.ts';
import { ProviderRecord } from './record/record.ts';
import { createCertificate } from './server/certificate.ts';
import type { Handler } from './server/exchange.ts';
import type { ProviderServer } from './server/provider-server.ts';
import { startProviderServer } from './server/provider-server.ts';
import { PushSubscriptions } from './webpush/push-subscriptions.ts';
import { createWebPush } from './webpush/web-push.ts';

export interface Simulator {
  /** `https://host:port`, without a slash at the end, as operator settings take them. */
  readonly apnsOrigin: string;
  readonly fcmOrigin: string;
  readonly oauthOrigin: string;
  readonly webPushOrigin: string;
  readonly controlUrl: string;
  /** The certificate that a client of these origins must trust. */
  readonly certificatePem: string;
  readonly accounts: ProviderAccounts;
  close(): Promise<void>;
}

/** The limits of the real providers (facts, 1.3, 1.8 and 2.6). */
const APNS_STREAMS = 1_000;
const APNS_STREAMS_AT_START = 1;
const FCM_STREAMS = 100;
const WEB_PUSH_STREAMS = 100;

export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const started: { close(): Promise<void> }[] = [];
  const close = async () => {
    await Promise.all(started.map((server) => server.close()));
  };
  try {
    return { ...(await startServers(options, started)), close };
  } catch (error) {
    // One port may be taken after others are bound; those must not keep the process alive.
    await close();
    throw error;
  }
}

/** Starts the servers, each of which joins `started` as soon as it listens. */
async function startServers(
  options: SimulatorOptions,
  started: { close(): Promise<void> }[],
): Promise<Omit<Simulator, 'close'>> {
  const { host = '127.0.0.1', behaviour = {} } = options;
  const certificate = options.certificate ?? (await createCertificate(host));
  const initial = changeBehaviour(KIND_BEHAVIOUR, behaviour);
  const live: LiveBehaviour = { current: initial, outage: 'none' };
  const book = new AccountBook();
  const accessTokens = new AccessTokens();
  const apns = createBook(live);
  const fcm = createBook(live);
  const oauth = new ProviderRecord();
  const webPush = createBook(live);
  const subscriptions = new PushSubscriptions();
  const installations = new Installations();

  const apnsServer = await startProviderServer({
    host,
    port: options.apnsPort ?? 0,
    certificate,
    live,
    maxConcurrentStreams: APNS_STREAMS,
    streamsAtStart: APNS_STREAMS_AT_START,
    goAwayText: '{"reason":"Shutdown"}',
    handle: createApns(apns, book),
    onConnection: () => apns.record.openConnection(),
    onLostAnswer: (token) => apns.record.loseAnswer(token),
  });
  started.push(apnsServer);
  const googleServer = await startProviderServer({
    host,
    port: options.fcmPort ?? 0,
    certificate,
    live,
    maxConcurrentStreams: FCM_STREAMS,
    goAwayText: 'max_age',
    handle: byPath(
      createOAuth(oauth, book, accessTokens),
      createFcm(fcm, accessTokens, installations),
    ),
    onConnection: () => fcm.record.openConnection(),
    onLostAnswer: (token) => fcm.record.loseAnswer(token),
  });
  started.push(googleServer);
  const webPushServer = await startProviderServer({
    host,
    port: options.webPushPort ?? 0,
    certificate,
    live,
    maxConcurrentStreams: WEB_PUSH_STREAMS,
    goAwayText: '',
    handle: createWebPush(webPush, subscriptions),
    onConnection: () => webPush.record.openConnection(),
    onLostAnswer: (token) => webPush.record.loseAnswer(token),
  });
  started.push(webPushServer);

  const googleOrigin = originOf(host, googleServer);
  const accounts = options.accounts ?? (await createAccounts(googleOrigin + TOKEN_PATH));
  book.add(accounts);
  const webPushOrigin = originOf(host, webPushServer);
  const servers = [apnsServer, googleServer, webPushServer];
  const outageClock = new OutageClock(live, () => {
    for (const server of servers) server.cutConnections();
  });
  outageClock.start(initial.outage);
  const applyBehaviour = (next: Behaviour) => {
    if (next.outage !== live.current.outage) outageClock.start(next.outage);
    live.current = next;
    for (const server of servers) server.applyBehaviour();
  };
  const control = await startControl(options.controlPort ?? 0, {
    apns,
    fcm,
    oauth,
    webPush,
    subscribe: (applicationServerKey) =>
      subscriptions.subscribe(webPushOrigin, applicationServerKey),
    registerInstallation: (fid, by) => installations.register(fid, by),
    accounts: book,
    live,
    changeBehaviour: (change) => applyBehaviour(changeBehaviour(live.current, change)),
    reset: () => {
      for (const { scripts } of [apns, fcm, webPush]) scripts.reset();
      for (const record of [apns.record, fcm.record, webPush.record, oauth]) record.reset();
      installations.clear();
      for (const server of servers) server.countAnew();
      applyBehaviour(initial);
      outageClock.start(initial.outage);
    },
  });
  started.push(control);
  return {
    apnsOrigin: originOf(host, apnsServer),
    fcmOrigin: googleOrigin,
    oauthOrigin: googleOrigin,
    webPushOrigin,
    controlUrl: control.url,
    certificatePem: certificate.certificatePem,
    accounts,
  };
}

function createBook(live: LiveBehaviour): PushBook {
  return { live, scripts: new Scripts(), record: new ProviderRecord() };
}

/** FCM and the token endpoint share a listener; their paths tell them apart. */
function byPath(oauth: Handler, fcm: Handler): Handler {
  return (request) => (request.path === TOKEN_PATH ? oauth(request) : fcm(request));
}

/** A client cannot connect to a wildcard address, which always includes loopback. */
function originOf(host: string, { port }: ProviderServer): string {
  if (host === '0.0.0.0') return `https://127.0.0.1:${port}`;
  if (host === '::') return `https://[::1]:${port}`;
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
