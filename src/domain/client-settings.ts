/** Settings that the owners of a client make for its members. */

export interface ClientSettings {
  /** Members who send to more devices in the console type their number first. */
  readonly confirmAboveDevices: number;
  /** So long after it was sent in the console a notification can be taken back. 0: not at all. */
  readonly undoSeconds: number;
}

export const CLIENT_SETTING_DEFAULTS: ClientSettings = {
  confirmAboveDevices: 10_000,
  undoSeconds: 10,
};
