/** Requests to a server as texts, and the parts of its answers that the generator reads. */
import { constants, createPrivateKey, sign } from 'node:crypto';
import type { Answer } from './http-connection.ts';
import { type Random, seededRandom } from './random.ts';

/** The requests of one connection, in a loop. */
export interface Caller {
  /** Null: the load has used all that it had prepared. */
  next(): string | null;
  saw(answer: Answer): void;
  /** Adds the statuses of an answer: one, or the statuses of a batch. */
  count(answer: Answer, statuses: Record<string, number>): void;
}

/**
 * `frames`: orders as WebSocket messages. `batches`: orders in batches of `BATCH_ORDERS`. `signed`:
 * orders of the venue's own API.
 */
export type LoadKind = 'orders' | 'quotes' | 'portfolio' | 'frames' | 'batches' | 'signed';
export const BATCH_ORDERS = 100;

export type LoadOptions = {
  kind: LoadKind;
  port: number;
  basePath: string;
  /** API keys: each request uses a random key, and a cancel uses the key of its order. */
  keys: readonly string[];
  instruments: readonly string[];
  /** Prefix of idempotency keys: no two loads may share one. */
  name: string;
  /** The requests of `signed`, whose `keys` are ids and whose `instruments` are tickers. */
  signing?: { privateKeyPem: string; requests: number };
};

/** @param signed of `signed`: the signatures of all callers */
export function createCaller(
  options: LoadOptions,
  connection: number,
  signed: SignedRequests | null = null,
): Caller {
  const random = seededRandom(connection + 1);
  switch (options.kind) {
    case 'orders':
      return new Trader(options, `${options.name}-${connection}`, random, httpForm(options));
    case 'frames':
      return new Trader(options, `${options.name}-${connection}`, random, FRAME_FORM);
    case 'signed':
      return new Trader(
        options,
        `${options.name}-${connection}`,
        random,
        venueForm(options, signed!),
      );
    case 'batches':
      return new Batcher(options, `${options.name}-${connection}`, random);
    case 'quotes': {
      const paths = options.instruments.map((id) => `/quotes?ids=${id}`);
      return new Reader(options, paths, random);
    }
    case 'portfolio':
      return new Reader(options, ['/portfolio'], random);
    default:
      return options.kind satisfies never;
  }
}

class Reader implements Caller {
  readonly #options: LoadOptions;
  readonly #heads: readonly string[];
  readonly #random: Random;

  constructor(options: LoadOptions, paths: readonly string[], random: Random) {
    const { port, basePath } = options;
    this.#options = options;
    this.#heads = paths.map((path) => `GET ${basePath}${path} HTTP/1.1\r\n${hostText(port)}`);
    this.#random = random;
  }

  next(): string {
    const head = this.#heads[this.#random.below(this.#heads.length)]!;
    return `${head}${keyText(anyKey(this.#options, this.#random))}\r\n`;
  }

  saw(): void {}

  readonly count = countOne;
}

function countOne({ status }: Answer, statuses: Record<string, number>): void {
  const counted = isGood(status) ? 200 : status;
  statuses[counted] = (statuses[counted] ?? 0) + 1;
}

/** What `created` has made is counted as 200. */
export const isGood = (status: number) => status === 200 || status === 201;

function anyKey({ keys }: LoadOptions, random: Random): string {
  return keys[random.below(keys.length)]!;
}

/** Shares of a hundred: limit buys that rest, market buys; the others cancel resting orders. */
const LIMIT_BUYS = 50;
const MARKET_BUYS = 25;
const LIMIT_CENTS_MAX = 5;
const UUID_LENGTH = 36;

class Trader implements Caller {
  readonly #options: LoadOptions;
  readonly #name: string;
  readonly #random: Random;
  readonly #form: TradeForm;
  readonly #resting: { key: string; id: string }[] = [];
  #orders = 0;
  /** The key of the order in flight; null: it does not rest. */
  #limitKey: string | null = null;

  constructor(options: LoadOptions, name: string, random: Random, form: TradeForm) {
    this.#options = options;
    this.#name = name;
    this.#random = random;
    this.#form = form;
  }

  next(): string | null {
    const drawn = this.#random.below(100);
    this.#limitKey = null;
    if (drawn >= LIMIT_BUYS && drawn < LIMIT_BUYS + MARKET_BUYS) return this.#post(false);
    const cancels = drawn >= LIMIT_BUYS ? this.#resting.pop() : undefined;
    if (cancels === undefined) return this.#post(true);
    return this.#form.cancel(cancels.key, cancels.id);
  }

  saw({ status, text, bodyStart }: Answer): void {
    if (this.#limitKey === null || !isGood(status)) return;
    const { orderIdAfter } = this.#form;
    const at = text.indexOf(orderIdAfter, bodyStart) + orderIdAfter.length;
    this.#resting.push({ key: this.#limitKey, id: text.slice(at, at + UUID_LENGTH) });
  }

  readonly count = countOne;

  #post(isLimit: boolean): string | null {
    const key = anyKey(this.#options, this.#random);
    if (isLimit) this.#limitKey = key;
    const idempotencyKey = `${this.#name}-${(this.#orders++).toString(36)}`;
    const { instruments } = this.#options;
    const random = this.#random;
    const id = instruments[random.below(instruments.length)]!;
    const limitCents = isLimit ? 1 + random.below(LIMIT_CENTS_MAX) : null;
    return this.#form.place(key, this.#form.orderText({ id, limitCents, idempotencyKey }));
  }
}

/** Null: it takes at any price. */
type OrderTerms = { id: string; limitCents: number | null; idempotencyKey: string };

function orderText({ id, limitCents, idempotencyKey }: OrderTerms): string {
  const kind =
    limitCents === null ? '"type":"market"' : `"type":"limit","limitPriceCents":${limitCents}`;
  return (
    `{"action":"buy",${kind},"instrumentId":"${id}","side":"yes","count":1,` +
    `"idempotencyKey":"${idempotencyKey}"}`
  );
}

const RESULT = '{"status":';

/** Batches of orders, of which two in three rest. */
class Batcher implements Caller {
  readonly #options: LoadOptions;
  readonly #name: string;
  readonly #random: Random;
  readonly #head: string;
  #orders = 0;

  constructor(options: LoadOptions, name: string, random: Random) {
    this.#options = options;
    this.#name = name;
    this.#random = random;
    this.#head = postHead(options, '/portfolio/orders/batch');
  }

  next(): string {
    const random = this.#random;
    const { instruments } = this.#options;
    const orders = Array.from({ length: BATCH_ORDERS }, () => {
      const idempotencyKey = `${this.#name}-${(this.#orders++).toString(36)}`;
      const isLimit = random.below(LIMIT_BUYS + MARKET_BUYS) < LIMIT_BUYS;
      const id = instruments[random.below(instruments.length)]!;
      const limitCents = isLimit ? 1 + random.below(LIMIT_CENTS_MAX) : null;
      return orderText({ id, limitCents, idempotencyKey });
    });
    const body = `{"orders":[${orders.join(',')}]}`;
    const key = anyKey(this.#options, random);
    return `${this.#head}${body.length}\r\n${keyText(key)}\r\n${body}`;
  }

  saw(): void {}

  /** A result begins with its status as a number, and no object in it does. */
  count(answer: Answer, statuses: Record<string, number>): void {
    const { text, bodyStart, status } = answer;
    if (status !== 200) return countOne(answer, statuses);
    for (let at = text.indexOf(RESULT, bodyStart); at !== -1; at = text.indexOf(RESULT, at)) {
      at += RESULT.length;
      if (text[at] === '"') continue;
      const result = text.slice(at, at + 3);
      statuses[result] = (statuses[result] ?? 0) + 1;
    }
  }
}

/** How an order and a cancel are written. */
type TradeForm = {
  orderText(terms: OrderTerms): string;
  place(key: string, body: string): string | null;
  cancel(key: string, orderId: string): string | null;
  /** The text before the id in an answer. */
  orderIdAfter: string;
};
const ORDER_ID_AFTER = '"orderId":"';

function httpForm(options: LoadOptions): TradeForm {
  const { port, basePath } = options;
  const host = hostText(port);
  const head = postHead(options, '/portfolio/orders');
  const deleteHead = `DELETE ${basePath}/portfolio/orders/`;
  return {
    orderText,
    place: (key, body) => `${head}${body.length}\r\n${keyText(key)}\r\n${body}`,
    cancel: (key, id) => `${deleteHead}${id} HTTP/1.1\r\n${host}${keyText(key)}\r\n`,
    orderIdAfter: ORDER_ID_AFTER,
  };
}

/** The path of a cancel has no id, so that it can be signed before the order is placed. */
function venueForm({ port }: LoadOptions, signed: SignedRequests): TradeForm {
  const headOf = (method: 'POST' | 'DELETE', path: string) =>
    `${method} ${path} HTTP/1.1\r\n${hostText(port)}Content-Type: application/json\r\n`;
  const heads = { place: headOf('POST', VENUE_ORDERS), cancel: headOf('DELETE', VENUE_CANCELS) };
  const request = (of: 'place' | 'cancel', key: string, body: string) => {
    const signature = signed.take(of);
    if (signature === null) return null;
    const length = `Content-Length: ${body.length}\r\n`;
    return `${heads[of]}${length}KALSHI-ACCESS-KEY: ${key}\r\n${signature}\r\n${body}`;
  };
  return {
    orderText: ({ id, limitCents, idempotencyKey }) =>
      `{"ticker":"${id}","side":"bid","count":"1.00","price":"${centsText(limitCents ?? 99)}",` +
      `"time_in_force":"${limitCents === null ? 'immediate_or_cancel' : 'good_till_canceled'}",` +
      `"self_trade_prevention_type":"taker_at_cross","client_order_id":"${idempotencyKey}"}`,
    place: (key, body) => request('place', key, body),
    cancel: (key, id) => request('cancel', key, `{"orders":[{"order_id":"${id}"}]}`),
    orderIdAfter: '"order_id":"',
  };
}

const VENUE_ORDERS = '/trade-api/v2/portfolio/events/orders';
const VENUE_CANCELS = `${VENUE_ORDERS}/batched`;
const centsText = (cents: number) => `0.${String(cents).padStart(2, '0')}00`;

/** The text after the id in a message; its connection has the key. */
const FRAME_FORM: TradeForm = {
  orderText,
  place: (_key, body) => `"op":"place","order":${body}}`,
  cancel: (_key, id) => `"op":"cancel","orderId":"${id}"}`,
  orderIdAfter: ORDER_ID_AFTER,
};

function postHead({ port, basePath }: LoadOptions, path: string): string {
  return (
    `POST ${basePath}${path} HTTP/1.1\r\n${hostText(port)}` +
    'Content-Type: application/json\r\nContent-Length: '
  );
}

const hostText = (port: number) => `Host: 127.0.0.1:${port}\r\n`;
const keyText = (key: string) => `Authorization: Bearer ${key}\r\n`;

/** Of each three placements one cancel. */
const PLACED_OF_SIGNED = 0.78;
/** The server takes a signature so long before its time and after it. */
const CLOCK_DIFFERENCE_MS = 5000;
const SIGNED_AT_ONCE = 64;

/**
 * Signatures of requests to come: to sign takes a client ten times what a server takes to verify. Their
 * time is some seconds ahead, so that the server takes them while the load is measured.
 */
export class SignedRequests {
  readonly #signatures: Record<'place' | 'cancel', string[]> = { place: [], cancel: [] };

  take(of: 'place' | 'cancel'): string | null {
    return this.#signatures[of].pop() ?? null;
  }

  /** Resolves once the server would take them. */
  async sign({ privateKeyPem, requests }: NonNullable<LoadOptions['signing']>): Promise<void> {
    const key = createPrivateKey(privateKeyPem);
    const options = { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 };
    const signed = (text: string) =>
      new Promise<string>((resolve, reject) =>
        sign('sha256', Buffer.from(text), options, (error, signature) =>
          error === null ? resolve(signature.toString('base64')) : reject(error),
        ),
      );
    const startedMs = performance.now();
    await Promise.all(Array.from({ length: SIGNED_AT_ONCE }, () => signed('a first few')));
    const eachMs = (performance.now() - startedMs) / SIGNED_AT_ONCE;
    const atMs = Math.ceil(Date.now() + eachMs * requests + CLOCK_DIFFERENCE_MS);
    const places = Math.ceil(requests * PLACED_OF_SIGNED);
    for (let from = 0; from < requests; from += SIGNED_AT_ONCE) {
      const wanted = Array.from(
        { length: Math.min(SIGNED_AT_ONCE, requests - from) },
        async (_, at) => {
          const of = from + at < places ? 'place' : 'cancel';
          const text = of === 'place' ? `POST${VENUE_ORDERS}` : `DELETE${VENUE_CANCELS}`;
          const signature = await signed(`${atMs}${text}`);
          this.#signatures[of].push(
            `KALSHI-ACCESS-TIMESTAMP: ${atMs}\r\nKALSHI-ACCESS-SIGNATURE: ${signature}\r\n`,
          );
        },
      );
      await Promise.all(wanted);
    }
    const earlyMs = atMs - CLOCK_DIFFERENCE_MS - Date.now();
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, earlyMs)));
  }
}
