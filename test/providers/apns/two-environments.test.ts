/** Both environments of APNs with one sender, each a real HTTP/2 peer. */

import type { Test } from 'tap';
import t from 'tap';
import type { ApnsEnvironment } from '../../../src/domain/device.ts';
import type { Outcome } from '../../../src/domain/outcome.ts';
import { createSender } from '../../../src/providers/create-sender.ts';
import type { Sender } from '../../../src/providers/sender.ts';
import type { TransportName } from '../../../src/transport/transport.ts';
import { TRANSPORTS } from '../../../src/transport/transport.ts';
import { DEFAULT_ORIGINS } from '../../support/default-origins.ts';
import { until } from '../../support/poll.ts';
import { apnsCredential } from '../../support/provider-credentials.ts';
import type { ProviderPeer, Script } from '../../support/provider-peer.ts';
import { answer, startProviderPeer } from '../../support/provider-peer.ts';

const MESSAGE = {
  notificationId: 'n',
  payload: { title: 'Goal', data: {} },
  expiresAtMs: null,
  dueAtMs: 0,
};

const accepts: Script = (request) => answer(request, 200);
const refuses: Script = (request) => answer(request, 400, { reason: 'BadDeviceToken' });
const REFUSED: Outcome = { kind: 'bad-token', reason: 'BadDeviceToken' };

interface Scene {
  readonly production: ProviderPeer;
  readonly sandbox: ProviderPeer;
  readonly sender: Sender;
  ask(token: string, environment?: ApnsEnvironment): Promise<Outcome>;
}

/** A sender of a production credential over two peers. */
async function sceneOf(
  t: Test,
  transport: TransportName,
  scripts: {
    readonly production: Script;
    readonly sandbox: Script | null;
    readonly sandboxStreams?: number;
  },
): Promise<Scene> {
  const production = await startProviderPeer({ script: scripts.production });
  const sandbox = await startProviderPeer({
    script: scripts.sandbox ?? accepts,
    maxConcurrentStreams: scripts.sandboxStreams ?? 100,
  });
  if (scripts.sandbox === null) await sandbox.close();
  // The same certificate stands for both peers of this process.
  const origins = {
    ...DEFAULT_ORIGINS,
    apnsProduction: production.origin,
    apnsSandbox: sandbox.origin,
    ca: production.ca,
  };
  const sender = createSender(apnsCredential(), {
    origins,
    transport,
    authorization: 'bearer first',
  });
  t.teardown(async () => {
    await sender.close();
    await production.close();
    if (scripts.sandbox !== null) await sandbox.close();
  });
  await sender.whenReady();
  const rendered = sender.render(MESSAGE);
  let position = 0;
  const ask = (token: string, environment?: ApnsEnvironment): Promise<Outcome> =>
    new Promise((resolve, reject) => {
      const mine = position;
      position += 1;
      const settle = (settled: number, outcome: Outcome): void => {
        if (settled === mine) resolve(outcome);
        else reject(new Error(`${settled} was settled in place of ${mine}`));
      };
      sender.send(rendered, token, mine, settle, environment);
    });
  return { production, sandbox, sender, ask };
}

const tokensOf = (peer: ProviderPeer): readonly string[] =>
  peer.received.map(({ headers }) => String(headers[':path']).slice('/3/device/'.length));

for (const transport of TRANSPORTS) {
  t.test(`${transport}: a token of the other environment is delivered there`, async (t) => {
    const scene = await sceneOf(t, transport, { production: refuses, sandbox: accepts });
    t.same(await scene.ask('ab01'), { kind: 'delivered', environment: 'sandbox' });
    t.same(await scene.ask('ab01', 'sandbox'), { kind: 'delivered' }, 'known: nothing is learned');
    t.same(tokensOf(scene.production), ['ab01'], 'and it is not asked twice');
    t.same(tokensOf(scene.sandbox), ['ab01', 'ab01']);
  });

  t.test(`${transport}: refused by both it is refused, after one try at each`, async (t) => {
    const scene = await sceneOf(t, transport, { production: refuses, sandbox: refuses });
    t.same(await scene.ask('ab01'), REFUSED);
    t.same(await scene.ask('ab02', 'sandbox'), REFUSED);
    t.same(tokensOf(scene.production), ['ab01', 'ab02']);
    t.same(tokensOf(scene.sandbox), ['ab01', 'ab02']);
  });

  t.test(`${transport}: what was learned can be unlearned`, async (t) => {
    const scene = await sceneOf(t, transport, { production: accepts, sandbox: refuses });
    t.same(await scene.ask('ab01', 'sandbox'), { kind: 'delivered', environment: 'production' });
  });

  t.test(`${transport}: a key that is not for the other environment asks once`, async (t) => {
    const scene = await sceneOf(t, transport, {
      production: (request) =>
        request.headers[':path']?.endsWith('ff') ? accepts(request) : refuses(request),
      sandbox: (request) => answer(request, 403, { reason: 'BadEnvironmentKeyIdInToken' }),
    });
    t.same(await scene.ask('ab01'), REFUSED, 'no fault of the credential');
    t.same(await scene.ask('ab02'), REFUSED);
    t.same(await scene.ask('abff', 'sandbox'), { kind: 'delivered' });
    t.same(tokensOf(scene.sandbox), ['ab01']);
  });

  t.test(`${transport}: one odd refusal of the other environment proves nothing`, async (t) => {
    const scene = await sceneOf(t, transport, {
      production: refuses,
      sandbox: (request) =>
        request.number === 1
          ? accepts(request)
          : answer(request, 403, { reason: 'InvalidProviderToken' }),
    });
    t.same(await scene.ask('ab01', 'sandbox'), { kind: 'delivered' });
    t.same(await scene.ask('ab02'), { ...REFUSED, isInconclusive: true }, 'no refusal of a token');
    t.match(await scene.ask('ab01', 'sandbox'), { kind: 'unavailable', isOneHost: true });
    t.same(tokensOf(scene.sandbox), ['ab01', 'ab02'], 'it rests');
    t.same(tokensOf(scene.production), ['ab02']);
  });

  t.test(`${transport}: a key of another environment is a fault of the key`, async (t) => {
    const reasons = ['BadEnvironmentKeyIdInToken', 'BadEnvironmentKeyInToken'];
    for (const reason of [...reasons, 'TopicDisallowed', 'UnrelatedKeyIdInToken']) {
      const scene = await sceneOf(t, transport, {
        production: (request) => answer(request, 403, { reason }),
        sandbox: accepts,
      });
      t.same(await scene.ask('ab01'), { kind: 'bad-credential', reason });
      t.same(tokensOf(scene.sandbox), [], 'the other environment is not asked');
    }
  });

  t.test(`${transport}: a note of the other environment, but the key is not for it`, async (t) => {
    const scene = await sceneOf(t, transport, {
      production: accepts,
      sandbox: (request) => answer(request, 403, { reason: 'BadEnvironmentKeyInToken' }),
    });
    t.same(await scene.ask('ab01', 'sandbox'), { kind: 'delivered' });
    t.same(tokensOf(scene.production), ['ab01']);
  });

  t.test(`${transport}: the other environment is away: refused, and not counted`, async (t) => {
    const scene = await sceneOf(t, transport, { production: refuses, sandbox: null });
    t.same(await scene.ask('ab01'), { ...REFUSED, isInconclusive: true });
  });

  t.test(`${transport}: dead in the other environment is dead`, async (t) => {
    const scene = await sceneOf(t, transport, {
      production: refuses,
      sandbox: (request) => answer(request, 410, { reason: 'Unregistered', timestamp: 7 }),
    });
    t.same(await scene.ask('ab01'), { kind: 'gone', reason: 'Unregistered', sinceMs: 7 });
  });

  t.test(`${transport}: a fresh authorization reaches both`, async (t) => {
    const scene = await sceneOf(t, transport, { production: refuses, sandbox: accepts });
    scene.sender.authorize('bearer second');
    await scene.ask('ab01');
    scene.sender.authorize('bearer third');
    await scene.ask('ab02');
    t.same(
      scene.sandbox.received.map(({ headers }) => headers.authorization),
      ['bearer second', 'bearer third'],
    );
  });

  t.test(`${transport}: 3,000 tokens of the other environment, each settled once`, async (t) => {
    const scene = await sceneOf(t, transport, { production: refuses, sandbox: accepts });
    const rendered = scene.sender.render(MESSAGE);
    const settled = new Map<number, Outcome>();
    let twice = 0;
    for (let position = 0; position < 3_000; position += 1) {
      while (scene.sender.capacity === 0) await scene.sender.whenReady();
      const token = position.toString(16).padStart(8, '0');
      scene.sender.send(rendered, token, position, (answered, outcome) => {
        if (settled.has(answered)) twice += 1;
        settled.set(answered, outcome);
      });
    }
    await scene.sender.close();
    t.equal(settled.size, 3_000);
    t.equal(twice, 0);
    const delivered = [...settled.values()].filter(({ kind }) => kind === 'delivered').length;
    t.equal(new Set(tokensOf(scene.sandbox)).size, scene.sandbox.received.length, 'none twice');
    t.ok(scene.sandbox.received.length >= delivered);
    t.ok(delivered > 1_000, `${delivered} before it was closed`);
  });
}

t.test('an other environment that answers nothing stops nobody in this one', async (t) => {
  const scene = await sceneOf(t, 'http2', {
    production: (request) =>
      request.headers[':path']?.endsWith('ff') ? accepts(request) : refuses(request),
    sandbox: () => undefined,
    sandboxStreams: 1,
  });
  const { sender } = scene;
  const rendered = sender.render(MESSAGE);
  const counts = new Map<string, number>();
  const settle = (_: number, outcome: Outcome): void => {
    const name = outcome.kind === 'bad-token' && outcome.isInconclusive ? 'open' : outcome.kind;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  };
  for (let position = 0; position < 3_000; position += 1) {
    while (sender.capacity === 0) await sender.whenReady();
    sender.send(rendered, `${position.toString(16).padStart(8, '0')}00`, position, settle);
  }
  while (sender.capacity === 0) await sender.whenReady();
  t.same(await scene.ask('ff'), { kind: 'delivered' });
  t.match(
    await scene.ask('ab01', 'sandbox'),
    { kind: 'unavailable', isOneHost: true },
    'who is known to be of the other one is sent to later',
  );
  await until('those that were not asked have ended', async () =>
    (counts.get('open') ?? 0) > 2_500 ? true : null,
  );
  t.notOk(counts.has('bad-token'), 'none is refused that was not asked');
});

t.test('where both environments are one place a token is asked for once', async (t) => {
  const peer = await startProviderPeer({ script: refuses });
  const origins = { ...DEFAULT_ORIGINS, apnsProduction: peer.origin, apnsSandbox: peer.origin };
  const sender = createSender(apnsCredential(), {
    origins: { ...origins, ca: peer.ca },
    transport: 'http2',
    authorization: 'bearer first',
  });
  await sender.whenReady();
  const outcome = await new Promise<Outcome>((resolve) =>
    sender.send(sender.render(MESSAGE), 'ab01', 0, (_, settled) => resolve(settled)),
  );
  t.same(outcome, REFUSED);
  t.equal(peer.received.length, 1);
  await sender.close();
  await peer.close();
});
