import { randomUUID } from 'node:crypto';
import test from 'ava';
import { uuidOfWords, uuidTimeMs, uuidWord } from '../../../engine/memory/uuid-words.ts';
import {
  isTradeOf,
  isUuid,
  placeOfTrade,
  tradeIdOf,
  writeTradeId,
} from '../../../engine/rules/ids.ts';
import { NOON_MS, uuidOf } from '../fixtures.ts';

test('a uuid survives its four words', (t) => {
  for (let round = 0; round < 100; round++) {
    const id = randomUUID();
    const words = ([0, 1, 2, 3] as const).map((word) => uuidWord(id, word));
    t.is(uuidOfWords(words[0]!, words[1]!, words[2]!, words[3]!), id);
  }
});

test('T7, ids: a uuid v7 carries its time, and so does a trade id', (t) => {
  const orderId = uuidOf(77);
  t.is(uuidTimeMs(orderId), NOON_MS);
  const tradeId = tradeIdOf(orderId, NOON_MS + 5000);
  t.true(isUuid(tradeId));
  t.is(uuidTimeMs(tradeId), NOON_MS + 5000);
  t.not(tradeIdOf(orderId, NOON_MS), orderId);
  t.is(tradeIdOf(orderId, NOON_MS), tradeIdOf(orderId, NOON_MS));
  t.not(tradeIdOf(uuidOf(78), NOON_MS), tradeIdOf(uuidOf(77), NOON_MS));
});

test('T7: a trade has the random bits of its order, the last one flipped', (t) => {
  const orderId = '0195d3a0-1111-7abc-8def-0123456789fe';
  t.is(tradeIdOf(orderId, 0x0123_4567_89ab), '01234567-89ab-7abc-8def-0123456789ff');
});

test('T7: a trade is after the last one of its account and moment, whatever its order’s id is', (t) => {
  const idAt = (orderId: string, last: number | null) => {
    const words = ([0, 1, 2, 3] as const).map((word) => uuidWord(orderId, word));
    const ids = { word: (_: number, word: number) => words[word]! } as never;
    let id = '';
    const to = {
      set: (_: number, ...own: [number, number, number, number]) => {
        id = uuidOfWords(...own);
      },
    } as never;
    const row = 0 as never;
    const place = placeOfTrade(ids, row, last);
    writeTradeId(to, row, ids, row, { openedAtMs: 0x0123_4567_89ab, place });
    t.true(isTradeOf(id, orderId));
    return { id, place };
  };
  const low = '0195d3a0-1111-7000-8005-0123456789fe';
  const high = '0195d3a0-0000-7fff-bffe-0123456789fc';
  t.is(idAt(low, null).id, tradeIdOf(low, 0x0123_4567_89ab));
  t.is(idAt(low, 4).id, tradeIdOf(low, 0x0123_4567_89ab));
  t.is(idAt(low, 5).id, '01234567-89ab-7000-8006-0123456789ff');
  const first = idAt(high, null);
  t.is(first.id, '01234567-89ab-7fff-bffe-0123456789fd');
  const second = idAt(low, first.place);
  t.is(second.id, '01234567-89ab-7fff-bfff-0123456789ff');
  t.true(second.id > first.id);
  // There is no higher place.
  t.is(idAt(low, second.place).id, second.id);
  t.false(isTradeOf(first.id, low));
});
