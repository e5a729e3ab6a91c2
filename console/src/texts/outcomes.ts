/** The outcomes of a device, and the states of a notification, in words. */

export const outcomeTexts = {
  accepted: 'accepted',
  failed: 'refused',
  expired: 'too late',
  skipped: 'left out',
  cancelled: 'cancelled',
  remaining: 'to send',
};

/** With the sign that stands beside the colour, and the class of that colour. */
export const stateTexts: Readonly<
  Record<string, { readonly label: string; readonly sign: string; readonly kind: string }>
> = {
  SCHEDULED: { label: 'planned', sign: '◷', kind: 'cancelled' },
  QUEUED: { label: 'about to begin', sign: '…', kind: 'cancelled' },
  RUNNING: { label: 'on air', sign: '●', kind: 'live' },
  PAUSED: { label: 'paused', sign: '‖', kind: 'expired' },
  FINISHED: { label: 'done', sign: '✓', kind: 'accepted' },
  FAILED: { label: 'stopped by a fault', sign: '✕', kind: 'failed' },
  CANCELLED: { label: 'cancelled', sign: '–', kind: 'cancelled' },
};
