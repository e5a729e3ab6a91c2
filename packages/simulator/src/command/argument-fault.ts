/** A mistake in the arguments of the command: a sentence for whoever typed them. */
export class ArgumentFault extends Error {}
