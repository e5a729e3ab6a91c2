/** A fault of a setting, or of the thing that it names: one line for the operator. */

export class SettingFault extends Error {
  /** `message` begins with the setting's name; it has the value (no secret), fault, remedy. */
  constructor(message: string, options?: ErrorOptions) {
    super(message.replace(/\s*\n\s*/g, ' '), options);
    this.name = 'SettingFault';
  }
}
