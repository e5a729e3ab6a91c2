/** The device that the search was asked for, until its room takes it: no address has its token. */

class AskedDevice {
  deviceId = $state('');

  /** '': none. */
  take(): string {
    const { deviceId } = this;
    this.deviceId = '';
    return deviceId;
  }
}

export const askedDevice = new AskedDevice();
