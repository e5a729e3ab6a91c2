/** Settings that the owners of a client make for its members. */

export interface ClientSettings {
  /** Members who send to more devices in the console type their number first. */
  readonly confirmAboveDevices: number;
}

export const CLIENT_SETTING_DEFAULTS: ClientSettings = { confirmAboveDevices: 10_000 };
