/** The saved test devices of the client, and the trials that go to them. */

import type { AnswerOf } from '../../../packages/client/src/client.ts';
import type { Payload, TestDevice } from '../../../packages/client/src/openapi.ts';
import type { ClientApi } from './client.ts';

export type TestAnswer = AnswerOf<'POST', '/push-api/v3/{client}/notifications/test'>['body'];
export type TestTarget = Required<Pick<TestDevice, 'appId' | 'platformId' | 'deviceId'>>;
/** Members see the tokens. */
export type SavedTestDevice = TestDevice & TestTarget;

const TEST_DEVICES = '/push-api/v3/{client}/test-devices';

export async function listTestDevices(
  api: ClientApi,
  signal: AbortSignal,
): Promise<readonly SavedTestDevice[]> {
  return (await api.request('GET', TEST_DEVICES, { signal })).body as readonly SavedTestDevice[];
}

export async function saveTestDevice(
  api: ClientApi,
  device: TestTarget & Pick<TestDevice, 'name'>,
): Promise<SavedTestDevice> {
  return { ...(await api.request('POST', TEST_DEVICES, { body: device })).body, ...device };
}

export async function deleteTestDevice(api: ClientApi, id: number): Promise<void> {
  await api.request('DELETE', `${TEST_DEVICES}/{id}`, { path: { id } });
}

/** Sends the payload to one device, and answers what the provider said. */
export async function sendTest(
  api: ClientApi,
  { appId, platformId, deviceId }: TestTarget,
  payload: Payload,
): Promise<TestAnswer> {
  const body = { appId, platformId, deviceId, payload };
  return (await api.request('POST', '/push-api/v3/{client}/notifications/test', { body })).body;
}
