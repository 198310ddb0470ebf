/** The channels of one connection. Rules J4, J5, J8, J15 (api/RULES.md). */
import { numberOfEvent } from '../../engine/shard/account-events.ts';
import { type ErrorCode, invalidRequest } from '../errors.ts';
import { type Channel, endedText, gapText, type Member } from './channel.ts';
import { CHANNELS_MAX, type Messages } from './messages.ts';

export class Subscriptions {
  readonly #member: Member;
  readonly #channels = new Map<string, Channel>();
  /** Nothing is sent to the connection now. */
  #isPaused = false;

  constructor(member: Member) {
    this.#member = member;
  }

  get names(): string[] {
    return [...this.#channels.keys()];
  }

  /** The last number of each, as members of a JSON object. */
  get numbers(): string {
    const numbers = Array.from(this.#channels.values(), ({ name, seq }) => {
      return `${JSON.stringify(name)}:${seq}`;
    });
    return numbers.join(',');
  }

  /**
   * Adds all of the channels of a message, or throws the refusal of one and adds none. Returns what
   * begins them.
   */
  add(
    { channels: names, after = {} }: Messages['subscribe'],
    channelOf: (name: string) => Channel,
  ): () => void {
    const number = after.orders === undefined ? null : eventNumber('after.orders', after.orders);
    const wanted = new Set(names.filter((name) => !this.#channels.has(name)));
    // The form of a message is looked at before what its channels are about.
    if (this.#channels.size + wanted.size > CHANNELS_MAX) {
      throw invalidRequest(`a connection has at most ${CHANNELS_MAX} channels`);
    }
    const added = new Map<string, Channel>();
    try {
      for (const name of wanted) added.set(name, channelOf(name));
    } catch (error) {
      for (const channel of added.values()) channel.release();
      throw error;
    }
    for (const [name, channel] of added) this.#channels.set(name, channel);
    return () => {
      if (this.#isPaused) return;
      for (const channel of added.values()) channel.begin(this.#member, number);
    };
  }

  remove(names: readonly string[]): void {
    for (const name of names) {
      const channel = this.#channels.get(name);
      if (channel !== undefined) this.#leave(channel);
    }
  }

  /** Ends the channels whose names begin so; the client is sent why. */
  end(start: string, code: ErrorCode, message: string): void {
    for (const channel of [...this.#channels.values()]) {
      if (!channel.name.startsWith(start)) continue;
      this.#leave(channel);
      this.#member.send(endedText(channel.name, code, message));
    }
  }

  pause(): void {
    for (const channel of this.#channels.values()) channel.pause(this.#member);
    this.#isPaused = true;
  }

  /** Begins each anew, behind a gap. */
  resume(): void {
    this.#isPaused = false;
    for (const channel of this.#channels.values()) {
      this.#member.send(gapText(channel.name));
      channel.begin(this.#member);
    }
  }

  clear(): void {
    for (const channel of [...this.#channels.values()]) this.#leave(channel);
  }

  #leave(channel: Channel): void {
    this.#channels.delete(channel.name);
    if (!this.#isPaused) channel.pause(this.#member);
    channel.release();
  }
}

/** Throws `invalid_request`. */
export function eventNumber(field: string, id: string): number {
  const number = numberOfEvent(id);
  if (number !== null) return number;
  throw invalidRequest(`${field} must be the eventId of an event`);
}
