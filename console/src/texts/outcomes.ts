/** The outcomes of a device, and the states of a notification, in words. */

export const outcomeTexts = {
  accepted: 'accepted',
  failed: 'failed',
  expired: 'expired',
  skipped: 'skipped',
  cancelled: 'cancelled',
  withheld: 'held back by a limit',
  remaining: 'remaining',
  soFar: 'so far',
};

export interface StateText {
  readonly label: string;
  /** It stands beside the colour. */
  readonly sign: string;
  /** The class of the colour. */
  readonly kind: string;
}

export const sentWithErrors: StateText = { label: 'Sent with errors', sign: '!', kind: 'expired' };

export const partlyFailed = (platforms: string): StateText => ({
  label: `Partly failed: ${platforms}`,
  sign: '!',
  kind: 'failed',
});

export const stateTexts: Readonly<Record<string, StateText>> = {
  SCHEDULED: { label: 'Scheduled', sign: '◷', kind: 'cancelled' },
  QUEUED: { label: 'Queued', sign: '…', kind: 'cancelled' },
  RUNNING: { label: 'Sending', sign: '●', kind: 'live' },
  PAUSED: { label: 'Paused', sign: '‖', kind: 'expired' },
  FINISHED: { label: 'Sent', sign: '✓', kind: 'accepted' },
  FAILED: { label: 'Failed', sign: '✕', kind: 'failed' },
  CANCELLED: { label: 'Cancelled', sign: '–', kind: 'cancelled' },
};
