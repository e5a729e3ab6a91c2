/** A notification at local time, and its waves. */

export const localTexts = {
  option: 'At local time',
  at: 'Local time',
  hint: 'Each device gets it when its own clock shows this time.',
  late: 'Send at once where this time has passed',
  over: 'This time has passed everywhere. Choose a later one.',
  expiresHint: 'Counts from the last time zone.',
  waves: 'When it is sent',
  wavesHint: (zone: string) =>
    `Your time, ${zone}. Devices without one count as in the time zone of the settings.`,
  noZones: 'No device has a time zone yet: all get it at this time in that of the settings.',
  zonesFault: 'Could not load the time zones of the devices.',
  isPast: 'has passed',
  zones: (first: string, more: string) => (more === '0' ? first : `${first} and ${more} more`),
  devices: (count: string, hasMore: boolean) =>
    `${hasMore ? 'over ' : ''}${count} ${count === '1' && !hasMore ? 'device' : 'devices'}`,
  few: 'under 5 devices',
  inSummary: (at: string) => `${at}, local time`,
  table: 'By time zone',
  next: (at: string) => `next time zone ${at}`,
  time: 'Time',
  zonesHead: 'Time zones',
  state: 'Status',
  count: 'Devices',
  wave: (at: string, zone: string, isSkipped: boolean) =>
    isSkipped
      ? `In its time zone (${zone}) the time had passed when it was submitted: ${at}.`
      : `In its time zone (${zone}) it is sent at ${at}.`,
  withoutTimezone: 'without a time zone',
  skipped: { kind: 'skipped', sign: '–', label: 'Time had passed' },
};
