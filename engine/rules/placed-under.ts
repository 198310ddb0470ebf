/** What an order keeps of its account's realism. Rules T158, T159 (engine/RULES.md). */

import { PLAIN, type PlacedUnder, type Uuid } from '../base/units.ts';
import { uuidWord } from '../memory/uuid-words.ts';
import { isPreset, type Realism } from './realism.ts';

/** `realism` null: the preset `simple`. */
export function placedUnder(realism: Realism | null, orderId: Uuid): PlacedUnder {
  if (realism === null) return PLAIN;
  const { latencyMs, fees, liquidity } = realism;
  return {
    latencyMs: drawn(latencyMs, orderId),
    feesOn: fees === 'venue',
    liquidity,
    realistic: isPreset(realism, 'realistic'),
  };
}

/** Each value from `min` to `max` is as likely as any other, and one id always draws the same. */
function drawn({ min, max }: Realism['latencyMs'], orderId: Uuid): number {
  if (min === max) return min;
  let word = uuidWord(orderId, 2) ^ Math.imul(uuidWord(orderId, 3), 0x9e3779b1);
  word = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35);
  return min + (((word ^ (word >>> 16)) >>> 0) % (max - min + 1));
}
