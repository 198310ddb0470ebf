/**
 * Which messages are commands, which commands lead to facts, and which messages are ticks. Rules
 * D1, C1, D7 (engine/RULES.md).
 */
import type { Message } from '../../format/codec.ts';
import type { Command, SetFees, SetSwitches, Tick } from '../../rules/messages.ts';
import type { Query } from '../../rules/queries.ts';

const COMMANDS: Readonly<Record<Command['kind'], 1>> = {
  place: 1,
  amend: 1,
  make_order_group: 1,
  change_order_group: 1,
  remove_order_group: 1,
  cancel: 1,
  cancel_all: 1,
  disconnected: 1,
  connected: 1,
  adjust: 1,
  reset: 1,
  set_privacy: 1,
  mark: 1,
  settle: 1,
  catalog: 1,
  switches: 1,
  fees: 1,
  clock: 1,
};

export function isCommand(message: Message): message is Command {
  return message.kind in COMMANDS;
}

/** Messages that a shard which cannot write refuses. */
export function isJournaled(message: Message): boolean {
  return isCommand(message) && !isSetting(message);
}

/** Settings are no facts, so a shard that cannot write takes them too. */
export function isSetting(message: Message): message is SetSwitches | SetFees {
  return message.kind === 'switches' || message.kind === 'fees';
}

/** Every kind of tick; true: it only informs. */
const INFORMS: Readonly<Record<Tick['kind'], boolean>> = {
  quote: false,
  trade: true,
  level: false,
  print: false,
  levels: false,
  status: false,
  closing: false,
  result: false,
  game: false,
  heartbeat: true,
  down: false,
  time: true,
};

const TICK_KINDS = new Set(Object.keys(INFORMS));

export function isTick(message: Message): message is Tick {
  return TICK_KINDS.has(message.kind);
}

/** Whether a queue that is full may drop it. */
export function onlyInforms({ kind }: Tick): boolean {
  return INFORMS[kind];
}

/** Queries that the holder of an account asks about it. */
const READS_OF_HOLDER: ReadonlySet<Message['kind']> = new Set<Query['kind']>([
  ...([
    'portfolio',
    'account',
    'account_snapshot',
    'order_groups',
    'order',
    'orders',
    'trades',
    'preview',
  ] as const),
]);

export function isReadOfHolder({ kind }: Command | Query): boolean {
  return READS_OF_HOLDER.has(kind);
}
