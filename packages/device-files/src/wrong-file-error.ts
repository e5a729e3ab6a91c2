/** The file is not of the given format: nothing of it can be read. The message is a sentence. */
export class WrongFileError extends Error {}
