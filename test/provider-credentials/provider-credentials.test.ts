/**
 * Provider credentials: each fault gets its sentence, and what is right comes back as it was put.
 */

import { generateKeyPairSync } from 'node:crypto';
import t from 'tap';
import { createSecrets } from '../../src/access/secrets.ts';
import {
  parseProviderCredential,
  readProviderCredential,
  writeProviderCredential,
} from '../../src/provider-credentials/provider-credentials.ts';
import { addTenant, secrets } from '../support/api.ts';
import { DEFAULT_ORIGINS } from '../support/default-origins.ts';
import { sentenceOf } from '../support/provider-credentials.ts';
import { withStores } from '../support/store.ts';

const OAUTH_ORIGIN = DEFAULT_ORIGINS.oauth;
const privateKeyEncoding = { type: 'pkcs8', format: 'pem' } as const;
const publicKeyEncoding = { type: 'spki', format: 'pem' } as const;
const ecKey = (namedCurve: string): string =>
  generateKeyPairSync('ec', { namedCurve, privateKeyEncoding, publicKeyEncoding }).privateKey;
const rsaKey = (modulusLength: number): string =>
  generateKeyPairSync('rsa', { modulusLength, privateKeyEncoding, publicKeyEncoding }).privateKey;

const apns = {
  teamId: 'TEAM123456',
  keyId: 'KEY1234567',
  privateKey: ecKey('prime256v1'),
  bundleId: 'com.example.app',
  environment: 'sandbox',
};
const serviceAccount = {
  type: 'service_account',
  project_id: 'example-1234',
  private_key_id: 'abc',
  private_key: rsaKey(2_048),
  client_email: 'push@example-1234.iam.example.com',
  token_uri: `${OAUTH_ORIGIN}/token`,
  client_id: 'ignored',
};

const faultsOf = async (platformId: number, input: unknown): Promise<readonly string[]> => {
  const parsed = await parseProviderCredential(platformId, input, DEFAULT_ORIGINS);
  return parsed.ok ? [] : parsed.faults.map(sentenceOf);
};
const faultsOfAccount = (change: object): Promise<readonly string[]> =>
  faultsOf(15, { serviceAccount: { ...serviceAccount, ...change } });

t.test('each fault is one sentence that names its field and quotes no secret', async (t) => {
  t.same(await faultsOf(3, { ...apns, teamId: 'short' }), [
    'teamId must be 10 capital letters and digits: it is on the page Membership details of the developer account.',
  ]);
  for (const bad of ['com.example.app\n', 'com example', 'com.exämple', 'a\r\nb: c', '']) {
    t.match((await faultsOf(3, { ...apns, bundleId: bad }))[0], /^bundleId /, JSON.stringify(bad));
    t.match((await faultsOf(3, { ...apns, keyId: bad }))[0], /^keyId /, JSON.stringify(bad));
    t.match((await faultsOf(3, { ...apns, teamId: bad }))[0], /^teamId /, JSON.stringify(bad));
  }
  t.same(await faultsOf(3, { ...apns, keyId: undefined }), [
    "keyId is missing: it is in the name of the key's file, AuthKey_<key id>.p8.",
  ]);
  t.match(await faultsOf(3, { ...apns, privateKey: ecKey('secp384r1') }), [
    /^privateKey is a key that is not P-256 .*\.$/,
  ]);
  t.same(await faultsOf(3, { ...apns, keyId: apns.teamId }), [
    "keyId is the team's id: that of the key is in the name of its file, AuthKey_<key id>.p8.",
  ]);
  t.match(await faultsOf(3, { ...apns, bundleId: 'TEAM123456.com.acme' }), [
    /^bundleId begins with/,
  ]);
  t.same(await faultsOf(3, { ...apns, environment: 'test' }), [
    'environment must be production or sandbox.',
  ]);
  t.same(await faultsOfAccount({ project_id: undefined }), [
    'serviceAccount.project_id is missing.',
  ]);
  for (const name of ['private_key', 'private_key_id', 'client_email']) {
    t.same(await faultsOfAccount({ [name]: undefined }), [`serviceAccount.${name} is missing.`]);
  }
  t.match(await faultsOfAccount({ private_key: apns.privateKey }), [
    /^serviceAccount\.private_key is not an RSA key of 2048 bits or more .*\.$/,
  ]);
  t.same(await faultsOfAccount({ type: 'authorized_user' }), [
    'serviceAccount.type must be service_account.',
  ]);
  t.same(await faultsOf(3, { ...apns, enviroment: 'sandbox' }), [
    'enviroment is unknown; the nearest is environment.',
  ]);
  t.match(await faultsOf(15, { serviceAccount, key: 'x' }), [
    'key is unknown; the nearest is serviceAccount.',
  ]);
  t.same(await faultsOf(7, { serviceAccount, vapidKeys: {} }), [
    'vapidKeys is unknown; the nearest is vapid.',
  ]);
  t.same((await faultsOf(15, {})).length, 1);
  t.same(await faultsOf(7, {}), ['The credential must have vapid or serviceAccount.']);
  t.same(await faultsOf(8, {}), ['platform 8 takes no credential.']);
});

t.test("another of Google's files is called by its name", async (t) => {
  const rows: readonly (readonly [object, RegExp])[] = [
    [{ project_info: {}, client: [] }, /is google-services\.json, the file of the Android app\. /],
    [{ apiKey: 'x', authDomain: 'y' }, /is the firebaseConfig of a web app/],
    [{ installed: { client_id: 'x' } }, /is an OAuth client's file/],
    [{ web: {} }, /is an OAuth client's file/],
    [{ type: 'authorized_user', refresh_token: 'x' }, /is the credentials of a person/],
    [{ type: 'external_account', credential_source: {} }, /workload identity/],
    [{ teamId: 'TEAM123456', keyId: 'KEY1234567' }, /is a credential of APNs/],
  ];
  for (const [file, fault] of rows) {
    const faults = await faultsOf(15, { serviceAccount: file });
    t.equal(faults.length, 1);
    t.match(faults[0], fault);
    t.match(faults[0], /Generate new private key\.$/);
  }
});

t.test("an address that is not the operator's is refused", async (t) => {
  for (const token_uri of [
    'https://oauth2.googleapis.com.evil.example/token',
    'http://oauth2.googleapis.com/token',
    'https://evil.example/',
    'no url',
    '',
  ]) {
    t.match(
      (await faultsOfAccount({ token_uri }))[0],
      /^serviceAccount\.token_uri must be at /,
      token_uri,
    );
  }
  t.same(await faultsOfAccount({ token_uri: undefined }), []);
  t.same(await faultsOfAccount({}), []);
});

t.test('put, read, cleared; unreadable under another key or on another app', async (t) => {
  await withStores(t, async (t, { sql }) => {
    const { appId } = await addTenant(sql, 'demo');
    const parsed = await parseProviderCredential(3, apns, DEFAULT_ORIGINS);
    if (!parsed.ok) throw new Error('it is right');
    const read = (id = appId, platformId = 3) =>
      readProviderCredential(sql, secrets, id, platformId);
    t.same(await read(), { kind: 'none' });
    t.same(await read(appId, 7), { kind: 'not-on-platform' });
    t.ok(await writeProviderCredential(sql, secrets, appId, 3, parsed.credential));
    t.same(await read(), { kind: 'opened', credential: { kind: 'apns', ...apns } });
    t.notOk(await writeProviderCredential(sql, secrets, appId, 7, parsed.credential));

    const others = createSecrets('another key than the one it was made with');
    t.match(await readProviderCredential(sql, others, appId, 3), { kind: 'unreadable' });
    const other = await addTenant(sql, 'other');
    await sql`
      update app_platforms as thief set credential_sealed = owner.credential_sealed, credential_key_id = owner.credential_key_id
      from app_platforms as owner
      where owner.app_id = ${appId} and owner.platform_id = 3 and thief.app_id = ${other.appId} and thief.platform_id = 3`;
    t.match(
      await read(other.appId),
      { kind: 'unreadable' },
      'moved to another app it does not open',
    );

    t.ok(await writeProviderCredential(sql, secrets, appId, 3, null));
    t.same(await read(), { kind: 'none' });
  });
});
