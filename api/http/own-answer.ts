/** The answer of a protocol within HTTP that has statuses of its own. Rule A180 (api/RULES.md). */
import type { HeaderLines } from './header-lines.ts';

/** A status, headers beside the route's, and a body; null: none. */
export class OwnAnswer {
  readonly status: number;
  readonly headers: HeaderLines;
  readonly body: string | null;

  constructor(status: number, headers: HeaderLines, body: string | null) {
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
}
