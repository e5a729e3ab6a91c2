/** The meaning that several providers' words have. */

export const BAD_MESSAGE = 'the provider accepts this message for no device: check its payload';
