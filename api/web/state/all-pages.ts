/** Every page of a list, one after another. */
import { CallError } from './call-error.ts';
import type { Rows } from './loaded.ts';

type Options<Row> = {
  ask(cursor: string | null): Promise<Rows<Row>>;
  /** The server has no room for a request before so many seconds have passed. */
  pause(seconds: number, signal: AbortSignal): Promise<void>;
  /** Ends it: with its reason, before the next page is asked for. */
  signal: AbortSignal;
};

/** A page that is refused for a while is asked for again after that time. */
export async function* allPages<Row>(options: Options<Row>): AsyncGenerator<readonly Row[]> {
  let cursor: string | null = null;
  do {
    const page: Rows<Row> = await onePage(options, cursor);
    yield page.rows;
    cursor = page.nextCursor;
  } while (cursor !== null);
}

async function onePage<Row>(
  { ask, pause, signal }: Options<Row>,
  cursor: string | null,
): Promise<Rows<Row>> {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await ask(cursor);
    } catch (error) {
      const seconds = error instanceof CallError ? error.retryAfterSeconds : null;
      if (seconds === null) throw error;
      await pause(seconds, signal);
    }
  }
}
