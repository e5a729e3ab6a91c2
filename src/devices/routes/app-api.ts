/** The services that the routes of the App API use. */

import type { GivenAttributes } from '../../attributes/given-attributes.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { TagTrees } from '../../catalogue/tag-tree.ts';
import type { TokenBuckets } from '../../std/token-buckets.ts';
import type { RegistrationResult } from '../operation.ts';
import type { OwnDevices } from '../own-devices.ts';
import type { DeviceTags } from '../register/device-tags.ts';
import type { Registration } from '../register/registration.ts';
import type { Replacements } from '../replace/replacements.ts';
import type { IgnoredField } from './parameters.ts';

export type AppApiEndpoint = 'reg' | 'ureg' | 'set';

export interface AppApi {
  readonly catalogue: Catalogue;
  readonly attributes: GivenAttributes;
  readonly tagTrees: TagTrees;
  readonly deviceTags: DeviceTags;
  readonly ownDevices: OwnDevices;
  readonly registration: Registration;
  readonly replacements: Replacements;
  /** REGISTRATIONS_PER_SECOND_MAX, by app and address. */
  readonly rates: TokenBuckets;
  readonly tagsPerDeviceMax: number;
  /** Counts ignored fields: developers must see them, although the answer is always OK. */
  onIgnored(endpoint: AppApiEndpoint, field: IgnoredField): void;
  onResult(endpoint: AppApiEndpoint | 'replace', result: RegistrationResult): void;
}
