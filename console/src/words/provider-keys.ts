/** The form of each provider's key: a file, fields, or both. */

import type { PlatformId } from '../../../packages/std/src/platforms.ts';
import { PLATFORMS } from '../../../packages/std/src/platforms.ts';
import { appTexts as texts } from '../texts/apps.ts';
import type { KeyFile } from './key-files.ts';
import { readP8, readServiceAccount } from './key-files.ts';

export interface KeyField {
  /** In the body of the request; `vapid.subject` is the field `subject` of `vapid`. */
  readonly path: string;
  readonly label: string;
  readonly hint?: string;
  /** `secret`: the key itself, which is never shown again. `code`: of fixed form. */
  readonly kind: 'secret' | 'code' | 'text';
  /** The values to choose from; the first is the default. */
  readonly choices?: readonly (readonly [value: string, label: string])[];
  readonly isRequired: boolean;
  /** The value of one file is wrong for another. */
  readonly isOfFile?: boolean;
}

export interface ProviderKey {
  /** Null: the key is typed. */
  readonly file: {
    readonly label: string;
    readonly accept: string;
    readonly read: (name: string, text: string) => KeyFile;
  } | null;
  /** In rows. */
  readonly fields: readonly (readonly KeyField[])[];
}

const APNS: ProviderKey = {
  file: { label: texts.drop3, accept: '.p8', read: readP8 },
  fields: [
    [
      {
        path: 'keyId',
        label: texts.keyId,
        hint: texts.keyIdHint,
        kind: 'code',
        isRequired: true,
        isOfFile: true,
      },
      {
        path: 'teamId',
        label: texts.teamId,
        hint: texts.teamIdHint,
        kind: 'code',
        isRequired: true,
      },
    ],
    [
      { path: 'bundleId', label: texts.bundleId, kind: 'code', isRequired: true },
      {
        path: 'environment',
        label: texts.environment,
        kind: 'text',
        choices: [
          ['production', texts.production],
          ['sandbox', texts.sandbox],
        ],
        isRequired: true,
      },
    ],
  ],
};

const FCM: ProviderKey = {
  file: {
    label: texts.drop15,
    accept: '.json,application/json',
    read: (_, text) => readServiceAccount(text),
  },
  fields: [],
};

const WEB_PUSH: ProviderKey = {
  file: null,
  fields: [
    [
      { path: 'vapid.privateKey', label: texts.vapidKey, kind: 'secret', isRequired: false },
      {
        path: 'vapid.subject',
        label: texts.vapidSubject,
        hint: texts.vapidSubjectHint,
        kind: 'text',
        isRequired: false,
      },
    ],
  ],
};

const PROVIDER_KEYS: Readonly<Record<PlatformId, ProviderKey>> = {
  [PLATFORMS.apns]: APNS,
  [PLATFORMS.webpush]: WEB_PUSH,
  [PLATFORMS.fcm]: FCM,
};

const BY_PLATFORM: ReadonlyMap<number, ProviderKey> = new Map(
  Object.entries(PROVIDER_KEYS).map(([platformId, key]) => [Number(platformId), key]),
);

/** Undefined: a platform of a newer engine. */
export const providerKeyOf = (platformId: number): ProviderKey | undefined =>
  BY_PLATFORM.get(platformId);

/** The name of a field, without what it is in. */
export const fieldNameOf = ({ path }: KeyField): string => path.slice(path.lastIndexOf('.') + 1);

/** The body of a request, of the values by their paths. */
export function bodyOf(
  values: Readonly<Record<string, string>>,
): Readonly<Record<string, unknown>> {
  const body: Record<string, unknown> = {};
  for (const [path, value] of Object.entries(values)) {
    const [name = '', inner] = path.split('.');
    body[name] = inner === undefined ? value : { ...(body[name] as object), [inner]: value };
  }
  return body;
}
