/** The part of a pino logger that is used here. */
export type Log = {
  info(details: object, message: string): void;
  error(details: object, message: string): void;
};
