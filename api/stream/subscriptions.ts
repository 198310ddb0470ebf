/** The channels of one connection. Rules J4, J5, J8, J15, J34 (api/RULES.md). */
import { numberOfEvent } from '../../engine/readers/account-events.ts';
import { invalidRequest } from '../base/errors.ts';
import { type Channel, type ChannelEnd, endedText, gapText, type Member } from './channel.ts';
import { CHANNELS_MAX, type Messages, ORDERS } from './messages.ts';

/** `after`: an event, for the channel that can continue from there. `gap`: it was interrupted. */
type Beginning = { after: number | null; gap: boolean };

export class Subscriptions {
  readonly #member: Member;
  readonly #channels = new Map<string, Channel>();
  /** The channels that have not begun, in the order of their beginnings. */
  readonly #toBegin = new Map<Channel, Beginning>();
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

  /** Adds all of the channels of a message, or throws the refusal of one and adds none. */
  add(
    { channels: names, after = {} }: Messages['subscribe'],
    channelOf: (name: string) => Channel,
  ): void {
    const number = afterOf({ after });
    if (number !== null && this.#channels.has(ORDERS)) {
      throw invalidRequest(
        'after.orders needs an unsubscribe first: orders has begun here already',
      );
    }
    const wanted = new Set(names.filter((name) => !this.#channels.has(name)));
    // The form of a message is checked before the subjects of its channels.
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
    for (const [name, channel] of added) {
      this.#channels.set(name, channel);
      if (!this.#isPaused) this.#toBegin.set(channel, { after: number, gap: false });
    }
  }

  get hasToBegin(): boolean {
    return this.#toBegin.size > 0;
  }

  /** Begins one of the waiting channels: 200 at once would take others' time. */
  beginNext(): boolean {
    for (const [channel, { after, gap }] of this.#toBegin) {
      this.#toBegin.delete(channel);
      if (gap) this.#member.send(gapText(channel.name));
      channel.begin(this.#member, after);
      return true;
    }
    return false;
  }

  /** Ends the channel of the name, if it has it and may not see it any more. */
  check(name: string): void {
    const channel = this.#channels.get(name);
    if (channel !== undefined) this.#member.permits(channel);
  }

  remove(names: readonly string[]): void {
    for (const name of names) {
      const channel = this.#channels.get(name);
      if (channel !== undefined) this.#leave(channel);
    }
  }

  /** Ends the channels whose names begin so; the client is sent why. */
  end(start: string, why: ChannelEnd): void {
    for (const channel of [...this.#channels.values()]) {
      if (!channel.name.startsWith(start)) continue;
      this.#leave(channel);
      this.#member.send(endedText(channel.name, why));
    }
  }

  pause(): void {
    for (const channel of this.#channels.values()) {
      if (!this.#toBegin.has(channel)) channel.pause(this.#member);
    }
    this.#toBegin.clear();
    this.#isPaused = true;
  }

  /** Each is to begin again, after a gap. */
  resume(): void {
    this.#isPaused = false;
    for (const channel of this.#channels.values()) {
      this.#toBegin.set(channel, { after: null, gap: true });
    }
  }

  clear(): void {
    for (const channel of [...this.#channels.values()]) this.#leave(channel);
  }

  #leave(channel: Channel): void {
    this.#channels.delete(channel.name);
    if (!this.#toBegin.delete(channel) && !this.#isPaused) channel.pause(this.#member);
    channel.release();
  }
}

/** The number of the event that a `subscribe` continues from; null: it names none. */
export function afterOf({ after = {} }: Pick<Messages['subscribe'], 'after'>): number | null {
  return after.orders === undefined ? null : eventNumber('after.orders', after.orders);
}

/** Throws `invalid_request`. */
export function eventNumber(field: string, id: string): number {
  const number = numberOfEvent(id);
  if (number !== null) return number;
  throw invalidRequest(`${field} must be the eventId of an event`);
}
