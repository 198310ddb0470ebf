/**
 * A way on loopback to a port, which a test may cut. A cut loses no byte and closes no connection:
 * what is sent waits, as in a network whose cable is out. Healing closes what was cut. A connection that
 * is lost stays open at both ends, and nothing comes over it any more, as if its peer had vanished.
 */
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** Who has opened a connection between members of etcd: its id, in hexadecimal digits. */
const SENDER = /^x-server-from: ([0-9a-f]+)\r$/im;

type Pair = { near: Socket; far: Socket; sender: string | null; isCut: boolean; isLost: boolean };

/** Whether the connections of a sender are cut; null: it does not say who it is. */
export type Cut = (sender: string | null) => boolean;

const NONE: Cut = () => false;

export class Link {
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  #cut = NONE;

  private constructor(to: number) {
    this.#server = createServer((near) => this.#accept(near, to));
  }

  static async to(port: number): Promise<Link> {
    const link = new Link(port);
    await new Promise<void>((resolve) => link.#server.listen(0, '127.0.0.1', resolve));
    return link;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  cut(cut: Cut): void {
    this.#cut = cut;
    for (const pair of this.#pairs) this.#hold(pair);
  }

  /** Of the connections that there are; new ones are not lost. */
  lose(lost: Cut): void {
    for (const pair of this.#pairs) {
      if (lost(pair.sender)) pair.isLost = true;
    }
  }

  heal(): void {
    this.#cut = NONE;
    for (const { near, far, isCut } of this.#pairs) {
      if (!isCut) continue;
      near.destroy();
      far.destroy();
    }
  }

  close(): void {
    this.#server.close();
    for (const { near, far } of this.#pairs) {
      near.destroy();
      far.destroy();
    }
  }

  #accept(near: Socket, to: number): void {
    const far = connect(to, '127.0.0.1');
    const pair: Pair = { near, far, sender: null, isCut: false, isLost: false };
    this.#pairs.add(pair);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.setNoDelay(true);
      // What one end does, the other end sees.
      one.on('error', () => {
        if (!pair.isLost) other.destroy();
      });
      one.on('close', () => {
        if (pair.isLost) return;
        other.destroy();
        this.#pairs.delete(pair);
      });
      one.on('data', (bytes) => {
        if (one === near) pair.sender ??= SENDER.exec(bytes.toString('latin1'))?.[1] ?? null;
        this.#hold(pair);
        // Healing closes one that is cut.
        if (pair.isCut || pair.isLost || other.write(bytes)) return;
        one.pause();
        other.once('drain', () => {
          if (!pair.isCut) one.resume();
        });
      });
    }
    this.#hold(pair);
  }

  #hold(pair: Pair): void {
    if (pair.isCut || !this.#cut(pair.sender)) return;
    pair.isCut = true;
    pair.near.pause();
    pair.far.pause();
  }
}
