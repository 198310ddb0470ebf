/** An answer whose bytes the socket does not accept at once. */
import test from 'ava';
import type { HeaderLines } from '../../../api/http/header-lines.ts';
import { HttpContext, newHeld } from '../../../api/http/http-context.ts';

/** A socket that accepts so many bytes of an answer at each time. */
class SlowSocket {
  readonly sent: number[] = [];
  ready: () => boolean = () => true;
  readonly #atOnce: number;

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  cork(write: () => void): void {
    write();
  }

  writeHeader(): void {}

  onAborted(): void {}

  onWritable(ready: () => boolean): void {
    this.ready = ready;
  }

  getWriteOffset(): number {
    return this.sent.length;
  }

  tryEnd(body: Uint8Array, total: number): [boolean, boolean] {
    this.sent.push(...body.subarray(0, this.#atOnce));
    return [body.length <= this.#atOnce, this.sent.length === (total || body.length)];
  }
}

test('bytes that a socket accepts later are those of the answer, whatever their memory has then', (t) => {
  const socket = new SlowSocket(4);
  const request = {
    forEach: () => undefined,
    getCaseSensitiveMethod: () => 'GET',
    getUrl: () => '/',
    getQuery: () => undefined,
  };
  const held = newHeld();
  const options = { headers: '' as HeaderLines, isBehindProxy: false, onAnswer: null };
  const http = new HttpContext(socket as never, request as never, options, held);
  const bytes = Buffer.from('0123456789');
  http.answer(200, '' as HeaderLines, bytes);
  bytes.fill('x');
  t.is(held.count, 1, 'it is not whole');
  for (let turns = 0; turns < 10 && !socket.ready(); turns++);
  t.is(Buffer.from(socket.sent).toString(), '0123456789');
  t.is(held.count, 0);
});
