/**
 * Answers may arrive in another order than they were asked for, over several connections. An answer
 * that is older than the last taken one does not count.
 */
export class AnswerOrder {
  #asked = 0;
  #taken = 0;

  /** @returns whether the answer counts, to be called when it is there */
  ask(): () => boolean {
    const own = ++this.#asked;
    return () => {
      if (own <= this.#taken) return false;
      this.#taken = own;
      return true;
    };
  }

  /** No answer that is on its way counts. */
  passOver(): void {
    this.#taken = this.#asked;
  }
}
