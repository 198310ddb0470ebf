/** Requests to a server as texts, and the parts of its answers that the generator reads. */
import type { Answer } from './http-connection.ts';
import { type Random, seededRandom } from './random.ts';

/** The requests of one connection, in a loop. */
export interface Caller {
  next(): string;
  saw(answer: Answer): void;
  /** Adds the statuses of an answer: one, or the statuses of a batch. */
  count(answer: Answer, statuses: Record<string, number>): void;
}

/** `frames`: orders as WebSocket messages. `batches`: orders in batches of `BATCH_ORDERS`. */
export type LoadKind = 'orders' | 'quotes' | 'portfolio' | 'frames' | 'batches';
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
};

export function createCaller(options: LoadOptions, connection: number): Caller {
  const random = seededRandom(connection + 1);
  switch (options.kind) {
    case 'orders':
      return new Trader(options, `${options.name}-${connection}`, random, httpForm(options));
    case 'frames':
      return new Trader(options, `${options.name}-${connection}`, random, FRAME_FORM);
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
  statuses[status] = (statuses[status] ?? 0) + 1;
}

function anyKey({ keys }: LoadOptions, random: Random): string {
  return keys[random.below(keys.length)]!;
}

/** Shares of a hundred: limit buys that rest, market buys; the others cancel resting orders. */
const LIMIT_BUYS = 50;
const MARKET_BUYS = 25;
const LIMIT_CENTS_MAX = 5;
const ORDER_ID = '"orderId":"';
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

  next(): string {
    const drawn = this.#random.below(100);
    this.#limitKey = null;
    if (drawn >= LIMIT_BUYS && drawn < LIMIT_BUYS + MARKET_BUYS) return this.#post(false);
    const cancels = drawn >= LIMIT_BUYS ? this.#resting.pop() : undefined;
    if (cancels === undefined) return this.#post(true);
    return this.#form.cancel(cancels.key, cancels.id);
  }

  saw({ status, text, bodyStart }: Answer): void {
    if (this.#limitKey === null || status !== 200) return;
    const at = text.indexOf(ORDER_ID, bodyStart) + ORDER_ID.length;
    this.#resting.push({ key: this.#limitKey, id: text.slice(at, at + UUID_LENGTH) });
  }

  readonly count = countOne;

  #post(isLimit: boolean): string {
    const key = anyKey(this.#options, this.#random);
    if (isLimit) this.#limitKey = key;
    const idempotencyKey = `${this.#name}-${(this.#orders++).toString(36)}`;
    const body = orderText(this.#options, this.#random, isLimit, idempotencyKey);
    return this.#form.place(key, body);
  }
}

function orderText(
  { instruments }: LoadOptions,
  random: Random,
  isLimit: boolean,
  idempotencyKey: string,
): string {
  const id = instruments[random.below(instruments.length)]!;
  const kind = isLimit
    ? `"type":"limit","limitPriceCents":${1 + random.below(LIMIT_CENTS_MAX)}`
    : '"type":"market"';
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
    const orders = Array.from({ length: BATCH_ORDERS }, () => {
      const idempotencyKey = `${this.#name}-${(this.#orders++).toString(36)}`;
      const isLimit = random.below(LIMIT_BUYS + MARKET_BUYS) < LIMIT_BUYS;
      return orderText(this.#options, random, isLimit, idempotencyKey);
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
  place(key: string, body: string): string;
  cancel(key: string, orderId: string): string;
};

function httpForm(options: LoadOptions): TradeForm {
  const { port, basePath } = options;
  const host = hostText(port);
  const head = postHead(options, '/portfolio/orders');
  const deleteHead = `DELETE ${basePath}/portfolio/orders/`;
  return {
    place: (key, body) => `${head}${body.length}\r\n${keyText(key)}\r\n${body}`,
    cancel: (key, id) => `${deleteHead}${id} HTTP/1.1\r\n${host}${keyText(key)}\r\n`,
  };
}

/** The text after the id in a message; its connection has the key. */
const FRAME_FORM: TradeForm = {
  place: (_key, body) => `"op":"place","order":${body}}`,
  cancel: (_key, id) => `"op":"cancel","orderId":"${id}"}`,
};

function postHead({ port, basePath }: LoadOptions, path: string): string {
  return (
    `POST ${basePath}${path} HTTP/1.1\r\n${hostText(port)}` +
    'Content-Type: application/json\r\nContent-Length: '
  );
}

const hostText = (port: number) => `Host: 127.0.0.1:${port}\r\n`;
const keyText = (key: string) => `Authorization: Bearer ${key}\r\n`;
