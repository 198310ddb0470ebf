/**
 * What an HTTP server costs that does nothing: uWebSockets.js, the body read and parsed, an answer
 * as long as the real one's. Started with the lengths as JSON; prints its port.
 */
import * as uws from 'uWebSockets.js';
import type { AnswerBytes } from '../lib/server.ts';

const bytes = JSON.parse(process.argv[2]!) as AnswerBytes;

/** Has an order id, as whoever places an order looks for one. */
function answerOf(length: number): string {
  const head = '{"orderId":"00000000-0000-7000-8000-000000000000","filler":"';
  return `${head}${'x'.repeat(Math.max(0, length - head.length - 2))}"}`;
}

const limit = answerOf(bytes.limit);
const market = answerOf(bytes.market);
const cancel = answerOf(bytes.cancel);
const quotes = answerOf(bytes.quotes);
const portfolio = answerOf(bytes.portfolio);

const app = uws.App();
app.post('/v1/portfolio/orders', (res) => {
  let isOpen = true;
  let partial: Buffer | null = null;
  res.onAborted(() => {
    isOpen = false;
  });
  res.onData((chunk, isLast) => {
    const piece = Buffer.from(chunk);
    if (!isLast || partial !== null) {
      // The chunk is taken back when this returns.
      partial = Buffer.concat(partial === null ? [piece] : [partial, piece]);
    }
    if (!isLast || !isOpen) return;
    const { type } = JSON.parse((partial ?? piece).toString()) as { type: string };
    write(res, type === 'limit' ? limit : market);
  });
});
app.del('/v1/portfolio/orders/:id', (res) => write(res, cancel));
app.get('/v1/quotes', (res) => write(res, quotes));
app.get('/v1/portfolio', (res) => write(res, portfolio));
app.listen('127.0.0.1', 0, (socket) => {
  if (socket === false) throw new Error('cannot listen');
  process.stdout.write(`listening on ${uws.us_socket_local_port(socket)}\n`);
});
process.on('SIGINT', () => process.exit(0));

function write(res: uws.HttpResponse, body: string): void {
  res.cork(() => {
    res.writeHeader('Content-Type', 'application/json');
    res.end(body);
  });
}
