/**
 * Answers without a body: HEAD, OPTIONS, 204. uWebSockets.js reports neither whether the socket
 * accepted such an answer nor which connection it is on. So it could buffer any number of them for
 * a caller who reads none. Rules A62, A64 (api/RULES.md).
 */

/** How many answers may stay unread: some megabytes. */
const KEPT_MAX = 10_000;
/**
 * A connection that reads nothing is closed about ten seconds after its last request. A connection
 * that sends more requests is closed with the next answer. After this time a caller whose answers
 * were buffered has either been disconnected or reads.
 */
const ENDING_MS = 20_000;

/** Decides which of these answers close their connection, over all connections of a listener. */
export class BodylessResponses {
  #kept = 0;
  #endingUntilMs = 0;

  /** Called once per answer; `nowMs` on a clock that begins at 0 and never goes back. */
  endsConnection(nowMs: number): boolean {
    if (nowMs < this.#endingUntilMs) return true;
    if (this.#kept++ < KEPT_MAX) return false;
    this.#kept = 0;
    this.#endingUntilMs = nowMs + ENDING_MS;
    return true;
  }
}
