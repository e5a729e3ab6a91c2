/** Attributes of devices: the list, declaring, changing and deleting one. */

import type { Attribute } from '../../../packages/client/src/openapi.ts';

type Named<K extends string> = Readonly<Record<K, string>>;

const BUILT_IN: Readonly<Record<string, string>> = {
  language: 'Language',
  timezone: 'Time zone',
  country: 'Country',
  appVersion: 'App version',
  osVersion: 'OS version',
  platform: 'Platform',
  app: 'App',
  registered: 'First registered',
  lastSeen: 'Last seen',
};

export const attributeTexts = {
  title: 'Attributes',
  line: 'What apps and your servers report of devices. Audiences and segments use it, such as @language = de.',
  add: 'New attribute',
  none: 'No attributes',
  /** The name of a built-in one for people; of a declared one as it is. */
  nameOf: (name: string) => BUILT_IN[name] ?? name,
  name: 'Name',
  nameHint: 'A lower-case letter, then letters, digits or _. It cannot be changed later.',
  type: 'Type',
  typeHint: 'It cannot be changed later.',
  types: {
    text: 'Text',
    language: 'Language',
    zone: 'Time zone',
    version: 'Version',
    integer: 'Whole number',
    time: 'Date and time',
    boolean: 'Yes or no',
  } as const satisfies Named<Attribute['type']>,
  setBy: 'Set by',
  setters: {
    app: 'The app',
    server: 'Your servers',
    both: 'The app and your servers',
    engine: 'Tagcast',
  } as const satisfies Named<Attribute['setBy']>,
  apps: 'Apps',
  appsHint: 'Choose none for all apps.',
  allApps: 'All apps',
  goneApp: (id: number) => `App ${id}, deleted`,
  personal: 'Personal',
  personalField: 'Personal: its values are in no list, log or webhook',
  personalHint:
    'Only a key with the permission “Send by personal attributes” can use it in an audience.',
  description: 'Description',
  builtIn: 'Built in',
  actions: 'Actions',
  change: 'Change…',
  changeOf: (name: string) => `Change… ${name}`,
  changeTitle: (name: string) => `Change ${name}`,
  make: 'Create attribute',
  remove: 'Delete…',
  removeOf: (name: string) => `Delete… ${name}`,
  removeTitle: (name: string) => `Delete the attribute ${name}?`,
  removeLine: (name: string) =>
    `Tests of @${name} match no device from now on, also in segments and in notifications that are scheduled. Its values are removed from all devices. This cannot be undone.`,
  removeDeed: 'Delete attribute',
  values: 'Values',
  value: 'Value',
  devices: 'Devices',
  lastSet: 'Last set',
  counted: 'Counted up to an hour ago',
  findValue: 'Find a value',
  firstValues: 'First values',
  noValues: 'No device has a value of it yet.',
  noSuchValue: 'No value has this text.',
  personalValues:
    'This attribute is personal. Its values are in no list; an owner sees that of a device on the page Devices.',
  numberValues:
    'Numbers and times are in no list, because nearly every device may have another one. The composer counts the devices that meet a condition.',
  covered: '••••••',
  uncover: 'Show',
  uncoverOf: (name: string) => `Show ${name}`,
  personalLine: 'Personal attributes are covered. Only owners see them.',
  yes: 'Yes',
  no: 'No',
};
