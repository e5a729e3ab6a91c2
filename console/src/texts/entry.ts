/** Signing in and up, resets, invitations, the end of a session. */

export const entryTexts = {
  signIn: 'Sign in',
  signUp: 'Sign up',
  noAccount: 'No account yet?',
  haveAccount: 'You have an account?',
  wrong: 'No account has this e-mail address and this password.',
  clientName: 'Name of the client',
  clientNameHint: 'A company, a paper, a product: whose apps these are.',
  passwordHint: 'Twelve characters or more. A sentence is good.',
  signUpOff:
    'This engine takes no sign-ups. Ask its operator, or an owner of your client, for an invitation.',
  signUpInvitation: 'Signing up here needs an invitation: open the link that you were given.',
  invitationTitle: 'You are invited',
  invitationLine: 'Choose how you sign in. The link works once, within an hour of its making.',
  mayExist: 'If this address has an account already, sign in with the password of that account.',
  resetTitle: 'A new password',
  resetLine: 'The link works once. All other sessions of the account end.',
  newPassword: 'New password',
  setPassword: 'Set the password',
  resetDone: 'The password is set. Sign in with it.',
  linkTitle: 'Signing in …',
  linkFailed:
    'This link does not work any more. It works once: start the engine again for another, or sign in.',
  endedTitle: 'Your session has ended',
  endedLine: (email: string) => `Sign in again as ${email}. The page goes on where it was.`,
  otherwise: 'Leave the page and sign in as somebody else',
  guides: 'Guides and the API',
};

export const accountTexts = {
  title: 'Account',
  back: 'Back',
  changeTitle: 'Change the password',
  current: 'Password now',
  changed: 'The password is changed. All your other sessions have ended.',
  change: 'Change it',
  sessionsTitle: 'Sessions',
  signOut: 'Sign out',
  signOutEverywhere: 'Sign out everywhere',
  everywhereHint: 'Ends this session and those of all your other browsers.',
  lookTitle: 'Look',
  look: 'Colours',
  system: 'As the system',
  light: 'Light',
  dark: 'Dark',
  clientsTitle: 'Clients',
};
