/**
 * The provider simulator: an APNs, an FCM, a Google token endpoint and a browser's push service on
 * loopback that check and answer as the real ones do. People who try Tagcast send through it; tests
 * and benches use it as their peer.
 */

import { AccountBook } from './account-book.ts';
import type { ProviderAccounts } from './accounts.ts';
import { createAccounts } from './accounts.ts';
import { startControl } from './control/control.ts';
import type { ControlledProvider } from './control/control-routes.ts';
import type { Behaviour } from './faults/behaviour.ts';
import { KIND_BEHAVIOUR } from './faults/behaviour.ts';
import type { PushBook } from './faults/fate.ts';
import { OutageClock } from './faults/outage-clock.ts';
import { Scripts } from './faults/scripts.ts';
import { TOKEN_PATH } from './oauth/oauth.ts';
import type { BehaviourChange, LiveBehaviour } from './options.ts';
import { changeBehaviour } from './options.ts';
import type { SimulatedOrigins, SimulatedProviderName } from './providers.ts';
import { originsAt, SIMULATED_PROVIDER_NAMES, SIMULATED_PROVIDERS } from './providers.ts';
import { ProviderRecord } from './record/record.ts';
import type { Certificate } from './server/certificate.ts';
import { createCertificate } from './server/certificate.ts';
import type { ProviderServer } from './server/provider-server.ts';
import { startProviderServer } from './server/provider-server.ts';
import type { SimulatedProvider } from './simulated-provider.ts';

export interface SimulatorOptions {
  /** Where the providers listen; the control endpoint stays on loopback. Default 127.0.0.1. */
  readonly host?: string;
  /** Ports, keyed by the names of the providers; 0 or absent: a free one. */
  readonly ports?: Readonly<Partial<Record<SimulatedProviderName, number>>>;
  readonly controlPort?: number;
  /** For `host`; absent: one is made. */
  readonly certificate?: Certificate;
  /** The first accepted account; absent: one is made. */
  readonly accounts?: ProviderAccounts;
  /** Faults; absent: none. */
  readonly behaviour?: BehaviourChange;
}

export interface Simulator extends SimulatedOrigins {
  readonly controlUrl: string;
  /** The certificate that a client of these origins must trust. */
  readonly certificatePem: string;
  readonly accounts: ProviderAccounts;
  close(): Promise<void>;
}

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
  const { host = '127.0.0.1', behaviour = {}, ports = {} } = options;
  const certificate = options.certificate ?? (await createCertificate(host));
  const initial = changeBehaviour(KIND_BEHAVIOUR, behaviour);
  const live: LiveBehaviour = { current: initial, outage: 'none' };
  const book = new AccountBook();
  const running = new Map<SimulatedProviderName, RunningProvider>();
  for (const name of SIMULATED_PROVIDER_NAMES) {
    const place = { host, port: ports[name] ?? 0, certificate };
    const provider = await startProvider(SIMULATED_PROVIDERS[name], place, live, book);
    started.push(provider.server);
    running.set(name, provider);
  }
  const origins = originsAt((name) => running.get(name)?.origin ?? '');
  const accounts = options.accounts ?? (await createAccounts(origins.oauthOrigin + TOKEN_PATH));
  book.add(accounts);
  const providers = [...running.values()];
  const outageClock = new OutageClock(live, () => {
    for (const { server } of providers) server.cutConnections();
  });
  outageClock.start(initial.outage);
  const applyBehaviour = (next: Behaviour) => {
    if (next.outage !== live.current.outage) outageClock.start(next.outage);
    live.current = next;
    for (const { server } of providers) server.applyBehaviour();
  };
  const control = await startControl(options.controlPort ?? 0, {
    providers: running,
    accounts: book,
    live,
    changeBehaviour: (change) => applyBehaviour(changeBehaviour(live.current, change)),
    reset: () => {
      for (const provider of providers) resetProvider(provider);
      applyBehaviour(initial);
      outageClock.start(initial.outage);
    },
  });
  started.push(control);
  return {
    ...origins,
    controlUrl: control.url,
    certificatePem: certificate.certificatePem,
    accounts,
  };
}

interface RunningProvider extends ControlledProvider {
  readonly origin: string;
  readonly server: ProviderServer;
  /** Forgets what is only its own. */
  reset(): void;
}

/** Where a provider listens. */
interface ListeningPlace {
  readonly host: string;
  readonly port: number;
  readonly certificate: Certificate;
}

async function startProvider(
  provider: SimulatedProvider,
  place: ListeningPlace,
  live: LiveBehaviour,
  accounts: AccountBook,
): Promise<RunningProvider> {
  const record = new ProviderRecord((request) =>
    live.current.keepsShown ? provider.shownBy(request) : null,
  );
  const book: PushBook = { live, scripts: new Scripts(), record };
  const played = provider.play({ book, accounts });
  const server = await startProviderServer({
    ...place,
    ...provider.connection,
    live,
    handle: played.handle,
    onConnection: () => book.record.openConnection(),
    onLostAnswer: (token) => book.record.loseAnswer(token),
  });
  const origin = originOf(place.host, server);
  return {
    book,
    origin,
    server,
    records: played.records ?? {},
    tokenOf: played.tokenOf ?? ((token) => token),
    routes: played.routesAt?.(origin) ?? [],
    reset: () => played.reset?.(),
  };
}

function resetProvider({ book, records, server, reset }: RunningProvider): void {
  book.scripts.reset();
  for (const record of [book.record, ...Object.values(records)]) record.reset();
  reset();
  server.countAnew();
}

/** A client cannot connect to a wildcard address, which always includes loopback. */
function originOf(host: string, { port }: ProviderServer): string {
  if (host === '0.0.0.0') return `https://127.0.0.1:${port}`;
  if (host === '::') return `https://[::1]:${port}`;
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
