/** Devices and their places (docs/internals/registration.md, "Devices"). */

import { hash } from 'node:crypto';
import type { PlatformId } from '../../packages/std/src/platforms.ts';
import { PLATFORMS } from '../../packages/std/src/platforms.ts';
import type { HexOctets } from '../std/hex-octets.ts';

export const PLATFORM_IDS: readonly PlatformId[] = Object.values(PLATFORMS);

const KNOWN: ReadonlySet<number> = new Set(PLATFORM_IDS);

export const isPlatformId = (value: number): value is PlatformId => KNOWN.has(value);

/** An app on one platform: it has a credential, ordinals and groups of its own. */
export interface Scope<Platform extends number = number> {
  readonly appId: number;
  readonly platformId: Platform;
}

export const scopeKeyOf = ({ appId, platformId }: Scope): string => `${appId}.${platformId}`;

/** Apple's two services: a token is of one of them only. */
export type ApnsEnvironment = 'production' | 'sandbox';

/** A deviceId on its way to a provider: hexadecimal ones, as APNs', need not become strings. */
export type DeviceToken = string | HexOctets;

/** @limit deviceId: 1 character or more, no NUL, no lone surrogate; at most → invalid parameter */
export const DEVICE_ID_LENGTH_MAX = 4_096;

/**
 * The unit of claiming, and of one Redis Cluster slot.
 * @limit devices of a group → never to be changed on existing data: groups are stored, and `8192`
 * stands in four statements
 */
export const GROUP_DEVICES = 8_192;
/**
 * The unit of recorded progress; a bigint holds the mask of a group's 64 blocks.
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

/** Whether PostgreSQL's text can hold it: no NUL, no lone surrogate, 1–4,096 characters. */
export const isDeviceId = (value: unknown): value is string =>
  typeof value === 'string' &&
  value.length > 0 &&
  value.length <= DEVICE_ID_LENGTH_MAX &&
  !value.includes('\0') &&
  value.isWellFormed();

const HEX = /^[0-9a-fA-F]+$/;

/** The stored form: APNs tokens in lower case, everything else as it came. */
export const normalizeDeviceId = (platformId: number, deviceId: string): string =>
  platformId === PLATFORMS.apns && HEX.test(deviceId) ? deviceId.toLowerCase() : deviceId;

/** 128 bits of the deviceId's SHA-256, as a uuid: 16 KiB of text do not fit into a B-tree entry. */
export const deviceKeyOf = (deviceId: string): string =>
  hash('sha256', deviceId, 'hex').slice(0, 32);

/**
 * A stored time may be so much older than the last registration, whatever the setting is now.
 * @limit time for which a registration that changes nothing may stay unwritten: the most that
 * `REGISTRATION_REFRESH_HOURS` may be → written: its time is remembered
 */
export const UNWRITTEN_MS_MAX = 86_400_000;
