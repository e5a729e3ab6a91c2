/** The saved test devices of the client, and the trials that go to them. */

import type { AnswerOf } from '../../../packages/client/src/client.ts';
import type { Payload, TestDevice } from '../../../packages/client/src/openapi.ts';
import type { ClientApi } from './client.ts';

export type TestAnswer = AnswerOf<'POST', '/push-api/v3/{client}/notifications/test'>['body'];
export type TestTarget = Pick<TestDevice, 'appId' | 'platformId' | 'deviceId'>;

const TEST_DEVICES = '/push-api/v3/{client}/test-devices';

export async function listTestDevices(
  api: ClientApi,
  signal: AbortSignal,
): Promise<readonly TestDevice[]> {
  return (await api.request('GET', TEST_DEVICES, { signal })).body;
}

export async function saveTestDevice(
  api: ClientApi,
  device: TestTarget & Pick<TestDevice, 'name'>,
): Promise<TestDevice> {
  return (await api.request('POST', TEST_DEVICES, { body: device })).body;
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
