/** A fault of a setting, or of the thing that it names: one line for the operator. */

export class SettingFault extends Error {
  /**
   * `message` begins with the setting's name, and says which value is meant (never a secret), what
   * is wrong and what to do.
   */
  constructor(message: string, options?: ErrorOptions) {
    super(message.replace(/\s*\n\s*/g, ' '), options);
    this.name = 'SettingFault';
  }
}
