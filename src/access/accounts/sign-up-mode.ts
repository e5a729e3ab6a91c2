/** Who may make a client. Invitations to a client that is there always work. */

export const SIGN_UP_MODES = ['off', 'open', 'invitation'] as const;
export type SignUpMode = (typeof SIGN_UP_MODES)[number];
