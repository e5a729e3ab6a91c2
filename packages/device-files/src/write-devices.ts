/** Devices as lines of our own formats, for `tagcast devices export`. */

/** A device with all data that another engine needs. */
interface ExportedDevice {
  readonly platformId: number;
  readonly deviceId: string;
  readonly appVersion: string | null;
  readonly registeredAtMs: number;
  /** Each as JSON: `{"sourceId","id","name"}`. */
  readonly tags: readonly string[];
}

export interface DeviceWriter {
  /** The first line of a file; '': none. */
  readonly head: string;
  /** One device, with its line's end. */
  line(device: ExportedDevice): string;
}

export const csvWriter: DeviceWriter = {
  head: 'platformId,deviceId,appVersion,registeredAt,tags\n',
  line({ platformId, deviceId, appVersion, registeredAtMs, tags }) {
    const registeredAt = new Date(registeredAtMs).toISOString();
    return `${platformId},${quoted(deviceId)},${quoted(appVersion ?? '')},${registeredAt},${quoted(`[${tags.join(',')}]`)}\n`;
  },
};

export const ndjsonWriter: DeviceWriter = {
  head: '',
  line({ platformId, deviceId, appVersion, registeredAtMs, tags }) {
    const version = appVersion === null ? '' : `,"appVersion":${JSON.stringify(appVersion)}`;
    const registeredAt = new Date(registeredAtMs).toISOString();
    return `{"platformId":${platformId},"deviceId":${JSON.stringify(deviceId)}${version},"registeredAt":"${registeredAt}","tags":[${tags.join(',')}]}\n`;
  },
};

/** Characters that need quotes in a CSV field. Some programs drop white space at its ends. */
const NEEDS_QUOTES = /[",\r\n]|^\s|\s$/;

/** RFC 4180: quotes around, quotes inside doubled. */
const quoted = (text: string): string =>
  NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
