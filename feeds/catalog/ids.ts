/**
 * Ids of games and instruments: their form, and the id that a slug gives. Rule K8
 * (feeds/FORMATS.md).
 */
import { createHash } from 'node:crypto';

/** Ten digits and capital letters without I, L, O and U. Rule A6 (api/RULES.md). */
export const GAME_ID = /^game_[0-9A-HJKMNP-TV-Z]{10}$/;
export const INSTRUMENT_ID = /^ins_[0-9A-HJKMNP-TV-Z]{12}$/;

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** The id of a game whose catalog entry leaves it out: always the same for the same slug. */
export function gameIdOf(slug: string): string {
  return `game_${digest(`game:${slug}`, 10)}`;
}

/** The id of an instrument whose catalog entry leaves it out: always the same for the same slug. */
export function instrumentIdOf(slug: string): string {
  return `ins_${digest(`ins:${slug}`, 12)}`;
}

/** The first `length` groups of five bits of the text's SHA-256, most significant bit first. */
function digest(text: string, length: number): string {
  const bytes = createHash('sha256').update(text, 'utf8').digest();
  let characters = '';
  for (let bit = 0; characters.length < length; bit += 5) {
    const pair = bytes.readUInt16BE(bit >> 3);
    characters += ALPHABET[(pair >> (11 - (bit & 7))) & 31];
  }
  return characters;
}
