/**
 * Devices and their places: ordinals, groups of 8,192 and blocks of 128
 * (docs/internals/registration.md, "Devices").
 */

import { hash } from 'node:crypto';
import type { PlatformId, PlatformName } from '../../packages/std/src/platforms.ts';
import { PLATFORM_LABELS, PLATFORMS } from '../../packages/std/src/platforms.ts';
import type { HexOctets } from '../std/hex-octets.ts';

export const PLATFORM_IDS: readonly PlatformId[] = Object.values(PLATFORMS);

/** All of them, for people: `3 (iOS), 7 (Web) or 15 (Android)`. */
export const PLATFORM_CHOICE = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(
  [...PLATFORM_LABELS].map(([id, label]) => `${id} (${label})`),
);

/** Null: no platform has this name. */
export const platformNamed = (name: string): PlatformId | null =>
  isPlatformName(name) ? PLATFORMS[name] : null;

const isPlatformName = (name: string): name is PlatformName => Object.hasOwn(PLATFORMS, name);

const KNOWN: ReadonlySet<number> = new Set(PLATFORM_IDS);

/** Whether a number from outside names a platform that this engine knows. */
export const isPlatformId = (value: number): value is PlatformId => KNOWN.has(value);

/**
 * An app on one platform: it has a credential, ordinals and groups of its own, and works or hangs
 * as a whole.
 */
export interface Scope<Platform extends number = number> {
  readonly appId: number;
  readonly platformId: Platform;
}

/** The key of an app's platform in maps. */
export const scopeKeyOf = ({ appId, platformId }: Scope): string => `${appId}.${platformId}`;

/** Apple's two services: a token is of one of them only. */
export type ApnsEnvironment = 'production' | 'sandbox';

/**
 * A deviceId on its way to a provider: a hexadecimal one, as APNs' are, need not become a string
 * for that.
 */
export type DeviceToken = string | HexOctets;

/**
 * Longest deviceId in UTF-16 units (internals/interface.md, "Terms").
 * @limit deviceId: 1 character or more, no NUL, no lone surrogate; at most → invalid parameter
 */
export const DEVICE_ID_LENGTH_MAX = 4_096;

/**
 * Devices of a group: the unit of claiming, and of one Redis Cluster slot.
 * @limit devices of a group → never to be changed on existing data: groups are stored, and `8192`
 * stands in three statements
 */
export const GROUP_DEVICES = 8_192;
/**
 * Devices of a block: the unit of recorded progress; 64 blocks make a group, so that a bigint holds
 * the mask.
 * @limit devices of a block → never to be changed on existing data
 */
export const BLOCK_DEVICES = 128;
export const GROUP_BLOCKS = GROUP_DEVICES / BLOCK_DEVICES;

export const groupNumberOf = (ordinal: number): number => Math.floor(ordinal / GROUP_DEVICES);
/** The ordinals of a group: from the first up to and with the last. */
export const firstOrdinalOf = (groupNumber: number): number => groupNumber * GROUP_DEVICES;
export const lastOrdinalOf = (groupNumber: number): number =>
  firstOrdinalOf(groupNumber) + GROUP_DEVICES - 1;
/** Where in its group an ordinal lies, 0–8,191. */
export const offsetOf = (ordinal: number): number => ordinal % GROUP_DEVICES;
/** The block (0–63) that an offset in a group lies in. */
export const blockOf = (offset: number): number => Math.floor(offset / BLOCK_DEVICES);

/**
 * Whether a deviceId can be stored: 1–4,096 characters, no NUL (PostgreSQL text has none) and no
 * lone surrogates (they have no UTF-8 form).
 */
export const isDeviceId = (value: unknown): value is string =>
  typeof value === 'string' &&
  value.length > 0 &&
  value.length <= DEVICE_ID_LENGTH_MAX &&
  !value.includes('\0') &&
  value.isWellFormed();

const HEX = /^[0-9a-fA-F]+$/;

/**
 * The form in which a deviceId is stored: APNs tokens in lower case, everything else as it came.
 */
export const normalizeDeviceId = (platformId: number, deviceId: string): string =>
  platformId === PLATFORMS.apns && HEX.test(deviceId) ? deviceId.toLowerCase() : deviceId;

/**
 * The key that a deviceId is found by: the first 128 bits of its SHA-256 in hex, a uuid to
 * PostgreSQL. A B-tree entry holds at most 2,704 bytes and a deviceId may have 16 KiB, so the text
 * itself cannot be indexed.
 */
export const deviceKeyOf = (deviceId: string): string =>
  hash('sha256', deviceId, 'hex').slice(0, 32);

/**
 * A registration that repeats one written within this time may stay unwritten (the maximum of
 * REGISTRATION_REFRESH_HOURS). So the time in a device's row may be so much earlier than its last
 * registration, whatever the setting is now.
 * @limit time for which a registration that changes nothing may stay unwritten: the most that
 * `REGISTRATION_REFRESH_HOURS` may be → written: its time is remembered
 */
export const UNWRITTEN_MS_MAX = 86_400_000;
