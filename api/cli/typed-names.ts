/**
 * A server refuses by the names of the API's fields. A caller who typed options and arguments reads
 * their names instead. Rule U80 (api/RULES.md).
 */
import type { Command } from 'commander';

/** By field: the option or argument, where its name is another one. */
const NAMES: Readonly<Record<string, string>> = {
  ...{ limitPriceCents: 'limit', maxPriceCents: 'max', minPriceCents: 'min' },
  ...{ statedProbPct: 'prob', timeInForce: 'tif', expiresAt: 'expires', orderGroupId: 'group' },
  ...{ instrumentId: 'instrument', ids: 'instrumentIds', ticker: 'instrument', gameId: 'game' },
  ...{ q: 'words', userId: 'user', parlayId: 'parlay' },
  ...{ venueKeyId: 'keyId', newPerMinute: 'ordersPerMinute', newPerDay: 'ordersPerDay' },
  ...{ perMinute: 'requestsPerMinute', perMonth: 'requestsPerMonth' },
};

const REFUSAL = /^(?:.*: )?invalid_request: /;

/** The message of a failed command, with what the caller typed in place of the fields. */
export function inTypedNames(message: string, command: Command | null): string {
  const head = REFUSAL.exec(message)?.[0];
  if (command === null || head === undefined) return message;
  const said = message.slice(head.length);
  // Elsewhere `limit`, `from` and `to` may be words of English.
  const text = said.replaceAll(/[A-Za-z][\w-]*(?:\.\w+)*/g, (word, at: number) => {
    const isCompared = said.slice(0, at).endsWith(' after ');
    const isField = at === 0 || isCompared || /[a-z][A-Z]/.test(word) || word in NAMES;
    return (isField ? typedName(word.split('.').at(-1)!, command) : null) ?? word;
  });
  return head + text;
}

function typedName(field: string, command: Command): string | null {
  const named = [NAMES[field], field];
  for (const argument of command.registeredArguments) {
    if (named.includes(argument.name())) return `<${argument.name()}>`;
  }
  return command.options.find((one) => named.includes(one.attributeName()))?.long ?? null;
}
