/**
 * The cost of an HTTP server without any work: uWebSockets.js, the body read and parsed, an answer
 * as long as the real one's. Arguments: the lengths as JSON, then optionally `hop` or `ring` and a
 * directory. Each request then goes to a thread and back that way before it is answered. Prints its
 * port.
 */
import * as uws from 'uWebSockets.js';
import type { AnswerBytes, Way } from '../lib/server.ts';
import { Hop } from './hop.ts';
import { RingHop } from './ring.ts';

type AnswerName = keyof AnswerBytes;

const lengths = Object.entries(JSON.parse(process.argv[2]!) as AnswerBytes);
const way = process.argv[3] as Way | undefined;
const texts = Object.fromEntries(lengths.map(([name, length]) => [name, answerOf(length)]));
const orders: AnswerName[] = ['limit', 'market', 'cancel'];
const hop = way === undefined ? null : hopOf(way, process.argv[4]!);

function hopOf(way: Way, dir: string): Hop | RingHop {
  return way === 'hop' ? new Hop({ dir, texts, orders }) : new RingHop(dir, texts, orders);
}

/** Contains an order id, which a client that places orders looks for. */
function answerOf(length: number): string {
  const head = '{"orderId":"00000000-0000-7000-8000-000000000000","filler":"';
  return `${head}${'x'.repeat(Math.max(0, length - head.length - 2))}"}`;
}

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
      // The chunk is freed when this returns.
      partial = Buffer.concat(partial === null ? [piece] : [partial, piece]);
    }
    if (!isLast || !isOpen) return;
    const order = JSON.parse((partial ?? piece).toString()) as { type: string };
    const name = order.type === 'limit' ? 'limit' : 'market';
    if (hop === null) write(res, texts[name]!);
    else hop.ask([name, ...Object.values(order)], (text) => isOpen && write(res, text));
  });
});
app.del('/v1/portfolio/orders/:id', (res, req) => answer(res, 'cancel', req.getParameter(0)));
app.get('/v1/quotes', (res, req) => answer(res, 'quotes', req.getQuery('ids')));
app.get('/v1/portfolio', (res) => answer(res, 'portfolio', undefined));
app.listen('127.0.0.1', 0, (socket) => {
  if (socket === false) throw new Error('cannot listen');
  process.stdout.write(`listening on ${uws.us_socket_local_port(socket)}\n`);
});
process.on('SIGINT', () => process.exit(0));

function answer(res: uws.HttpResponse, name: AnswerName, asked: string | undefined): void {
  if (hop === null) {
    write(res, texts[name]!);
    return;
  }
  let isOpen = true;
  res.onAborted(() => {
    isOpen = false;
  });
  hop.ask([name, asked], (text) => isOpen && write(res, text));
}

function write(res: uws.HttpResponse, body: string): void {
  res.cork(() => {
    res.writeHeader('Content-Type', 'application/json');
    res.end(body);
  });
}
