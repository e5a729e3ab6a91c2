/** The meaning that several reasons of providers share. */

export const BAD_MESSAGE = 'the provider accepts this message for no device: check its payload';
