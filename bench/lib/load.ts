/** What is asked of a server, as request texts, and what is learned from its answers. */
import type { Answer } from './http-connection.ts';
import { type Random, seededRandom } from './random.ts';

/** What one connection asks, again and again. */
export interface Caller {
  next(): string;
  saw(answer: Answer): void;
}

export type LoadKind = 'orders' | 'quotes' | 'portfolio';

export type LoadOptions = {
  kind: LoadKind;
  port: number;
  basePath: string;
  /** API keys; connections take them in turn. */
  keys: readonly string[];
  instruments: readonly string[];
  /** In front of idempotency keys: no two loads may share one. */
  name: string;
};

export function createCaller(options: LoadOptions, connection: number): Caller {
  const key = options.keys[connection % options.keys.length]!;
  const random = seededRandom(connection + 1);
  switch (options.kind) {
    case 'orders':
      return new Trader(options, key, `${options.name}-${connection}`, random);
    case 'quotes':
      return new Reader(
        options.instruments.map((id) => getText(options, key, `/quotes?ids=${id}`)),
        random,
      );
    case 'portfolio':
      return new Reader([getText(options, key, '/portfolio')], random);
    default:
      return options.kind satisfies never;
  }
}

class Reader implements Caller {
  readonly #texts: readonly string[];
  readonly #random: Random;

  constructor(texts: readonly string[], random: Random) {
    this.#texts = texts;
    this.#random = random;
  }

  next(): string {
    return this.#texts[this.#random.below(this.#texts.length)]!;
  }

  saw(): void {}
}

/** Out of a hundred: limit buys that rest, market buys; the others cancel what rests. */
const LIMIT_BUYS = 50;
const MARKET_BUYS = 25;
const LIMIT_CENTS_MAX = 5;
const ORDER_ID = '"orderId":"';
const UUID_LENGTH = 36;

class Trader implements Caller {
  readonly #instruments: readonly string[];
  readonly #name: string;
  readonly #random: Random;
  readonly #postHead: string;
  readonly #deleteHead: string;
  readonly #tail: string;
  readonly #resting: string[] = [];
  #orders = 0;
  #placesLimit = false;

  constructor(options: LoadOptions, key: string, name: string, random: Random) {
    const { port, basePath, instruments } = options;
    this.#instruments = instruments;
    this.#name = name;
    this.#random = random;
    this.#tail = headersText(port, key);
    this.#postHead =
      `POST ${basePath}/portfolio/orders HTTP/1.1\r\n${this.#tail}` +
      'Content-Type: application/json\r\nContent-Length: ';
    this.#deleteHead = `DELETE ${basePath}/portfolio/orders/`;
  }

  next(): string {
    const drawn = this.#random.below(100);
    this.#placesLimit = false;
    if (drawn >= LIMIT_BUYS && drawn < LIMIT_BUYS + MARKET_BUYS) return this.#post(false);
    const cancels = drawn >= LIMIT_BUYS ? this.#resting.pop() : undefined;
    if (cancels !== undefined) return `${this.#deleteHead}${cancels} HTTP/1.1\r\n${this.#tail}\r\n`;
    this.#placesLimit = true;
    return this.#post(true);
  }

  saw({ status, text, bodyStart }: Answer): void {
    if (!this.#placesLimit || status !== 200) return;
    const at = text.indexOf(ORDER_ID, bodyStart) + ORDER_ID.length;
    this.#resting.push(text.slice(at, at + UUID_LENGTH));
  }

  #post(isLimit: boolean): string {
    const random = this.#random;
    const id = this.#instruments[random.below(this.#instruments.length)]!;
    const key = `${this.#name}-${(this.#orders++).toString(36)}`;
    const kind = isLimit
      ? `"type":"limit","limitPriceCents":${1 + random.below(LIMIT_CENTS_MAX)}`
      : '"type":"market"';
    const body =
      `{"action":"buy",${kind},"instrumentId":"${id}","side":"yes","count":1,` +
      `"idempotencyKey":"${key}"}`;
    return `${this.#postHead}${body.length}\r\n\r\n${body}`;
  }
}

function getText({ port, basePath }: LoadOptions, key: string, path: string): string {
  return `GET ${basePath}${path} HTTP/1.1\r\n${headersText(port, key)}\r\n`;
}

function headersText(port: number, key: string): string {
  return `Host: 127.0.0.1:${port}\r\nAuthorization: Bearer ${key}\r\n`;
}
