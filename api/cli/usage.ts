/** The command was called wrongly in a way that the argument parser cannot see: exit code 2. */
export class UsageError extends Error {}
