/**
 * Answers without a body: HEAD, OPTIONS, 204. uWebSockets.js shows neither whether the socket took
 * such an answer nor on which connection it is, so it could keep any number of them for a caller who
 * reads none. Rules A62, A64 (api/RULES.md).
 */

/** So many that nobody may have read: some megabytes. */
const KEPT_MAX = 10_000;
/**
 * A connection that takes nothing lives for about ten seconds after its last request, and one that
 * asks meanwhile ends with the answer. So whose answers were kept is gone by then, or reads.
 */
const ENDING_MS = 20_000;

/** Which of them end their connection, over all connections of a listener. */
export class BareAnswers {
  #kept = 0;
  #endingUntilMs = 0;

  /** Called once for each; `nowMs` on a clock that begins at 0 and never goes back. */
  endsConnection(nowMs: number): boolean {
    if (nowMs < this.#endingUntilMs) return true;
    if (this.#kept++ < KEPT_MAX) return false;
    this.#kept = 0;
    this.#endingUntilMs = nowMs + ENDING_MS;
    return true;
  }
}
