/** A mistake in the arguments of the command: a sentence for the person who typed them. */
export class ArgumentFault extends Error {}
