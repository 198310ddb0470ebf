/** A fact of a shard's log as one line for people. Rule U11 (api/RULES.md). */

import { isoOf, type Uuid, VENUES } from '../../engine/base/units.ts';
import type { LoggedFact } from '../../engine/readers/read-facts.ts';
import { newIn } from '../../engine/rules/catalog-change.ts';
import type { Fact } from '../../engine/rules/facts.ts';
import { plain } from '../base/shown-text.ts';

/** Shard and number, time, and the event; longer numbers move the rest to the right. */
const PLACE_COLUMNS = 12;
export const FACT_HEADING = `${'SHARD/SEQ'.padEnd(PLACE_COLUMNS)}${'TIME'.padEnd(21)}FACT`;

/** One line of at most `columns`; the rest is cut off. */
export function factLine(logged: LoggedFact, columns: number): string {
  const { shard, number, fact } = logged;
  const time = isoOf(fact.atMs).slice(0, 19).replace('T', ' ');
  const said = plain(`${fact.kind} ${wordsOf(logged)}`.trimEnd());
  const line = `${`${shard}/${number} `.padEnd(PLACE_COLUMNS)}${time}  ${said}`;
  return line.length <= columns ? line : `${line.slice(0, columns - 1)}…`;
}

/** Why a trade was closed, if it was not sold. */
const RESET = { sold: '', account_reset: 'reset ' } as const;

/** The end of a uuid differs most. */
const short = (id: Uuid) => `…${id.slice(-6)}`;

function wordsOf({ fact, names }: LoggedFact): string {
  switch (fact.kind) {
    case 'account_opened':
      return fact.account;
    case 'cash_adjusted':
      return `${short(fact.account)} ${fact.amountCents}c`;
    case 'order_placed': {
      const price = fact.limitPriceCents === null ? 'at market' : `at ${fact.limitPriceCents}c`;
      return `${short(fact.account)} ${fact.action} ${fact.contracts} ${ofMarket(fact)} ${price}`;
    }
    case 'order_filled':
    case 'order_part_filled':
      return `${short(fact.account)} ${fillOf(fact)} ${ticker(fact.market)}`;
    case 'order_ended':
      return `${short(fact.account)} ${fact.status} (${fact.reason}) ${ticker(fact.market)}`;
    case 'trade_opened': {
      const at = `at ${fact.priceCents}c${feeOf(fact)}`;
      return `${short(fact.account)} ${fact.contracts} ${ofMarket(fact)} ${at}`;
    }
    case 'trade_grown':
    case 'trade_reduced':
      return `${short(fact.account)} ${fillOf(fact)}`;
    case 'trade_closed':
    case 'trade_settled': {
      const result = fact.kind === 'trade_settled' ? `${fact.outcome} ` : RESET[fact.closeReason];
      const fees = fact.feesCents === null ? '' : ` fees ${fact.feesCents}c`;
      const money = `cost ${fact.costCents}c brought ${fact.proceedsCents}c${fees}`;
      return `${short(fact.account)} ${result}${money} ${ofMarket(fact)}`;
    }
    case 'trade_counted':
      return `${short(fact.account)} key ${short(fact.key)}${fact.closing ? ' closing' : ''}`;
    case 'fill_nets': {
      const what = fact.trade === null ? 'opens' : `closes of ${short(fact.trade)}`;
      return `${short(fact.account)} order ${short(fact.order)} ${what} ${fact.contracts}`;
    }
    case 'pair_closed': {
      const what = `${fact.contracts} of ${short(fact.trade)} for ${fact.cents}c`;
      return `${short(fact.account)} ${what}`;
    }
    case 'order_queued': {
      const ahead = `${fact.aheadE2 / 100} ahead`;
      return `${short(fact.account)} order ${short(fact.order)} ${ahead}`;
    }
    case 'queue_met': {
      const met = `${fact.by} of ${fact.volumeE2 / 100}, ${fact.aheadE2 / 100} ahead`;
      return `${short(fact.account)} order ${short(fact.order)} ${met}`;
    }
    case 'fill_noted': {
      const levels = fact.levels.map(([cents, contracts]) => `, ${contracts} at ${cents}c`);
      return `${fact.role}, quote of ${fact.quoteAgeMs} ms${levels.join('')}`;
    }
    case 'liquidity_taken': {
      const { side, askCents, contracts, shown } = fact;
      return `${contracts} of ${shown} at ${askCents}c ${side} ${ticker(fact.market)}`;
    }
    case 'book_missed':
      return `${fact.atMs - fact.fromMs} ms ${ticker(fact.market)}`;
    case 'order_amended': {
      const to = `to ${fact.contracts} at ${fact.limitPriceCents}c`;
      const how = fact.keepsPlace ? 'keeps its place' : 'goes last';
      return `${short(fact.account)} order ${short(fact.order)} ${to}, ${how}`;
    }
    case 'order_group_made': {
      const cap = `${fact.contractsLimit} in ${fact.windowSeconds} s`;
      return `${short(fact.account)} group ${short(fact.group)} ${cap}`;
    }
    case 'order_group_changed':
      return `${short(fact.account)} group ${short(fact.group)} ${fact.change}, ${fact.contractsLimit}`;
    case 'order_group_removed':
      return `${short(fact.account)} group ${short(fact.group)}`;
    case 'order_arrived': {
      const how = fact.rests ? 'rests' : 'meets the book';
      return `${short(fact.account)} order ${short(fact.order)} ${how}`;
    }
    case 'order_cancel_accepted': {
      const until = isoOf(fact.cancelsAtMs);
      return `${short(fact.account)} order ${short(fact.order)} until ${until}`;
    }
    case 'market_resolved':
      return `${fact.outcome} ${ticker(fact.market)}`;
    case 'market_valued':
      return `yes ${fact.yesPayoutCents}c no ${fact.noPayoutCents}c ${ticker(fact.market)}`;
    case 'market_corrected':
      return `${fact.outcome} ${ticker(fact.market)} correction ${fact.correction}`;
    case 'trade_corrected': {
      const money = `${fact.changedByCents}c, cash ${fact.cashCents}c`;
      return `${short(fact.account)} ${fact.from} to ${fact.to} by ${money} ${ofMarket(fact)}`;
    }
    case 'game_changed':
      return `${fact.status} ${fact.game}`;
    case 'catalog_replaced': {
      const { games, instruments } = fact.catalog;
      return `${games.length} games, ${instruments.length} instruments`;
    }
    case 'catalog_changed': {
      const { games, instruments } = fact.change;
      return `${newIn(games).length} games, ${newIn(instruments).length} instruments are new or changed`;
    }
    case 'account_reset':
      return `${short(fact.account)} run ${fact.run}`;
    case 'privacy_changed':
      return `${short(fact.account)} ${fact.private ? 'private' : 'public'}`;
    case 'trade_marked': {
      const parlay = fact.parlay === null ? '' : ` parlay ${short(fact.parlay)}`;
      return `${short(fact.account)} trade ${short(fact.trade)}${parlay}${fact.combine ? ' combine' : ''}`;
    }
    case 'clock_set':
      return `from ${isoOf(fact.fromMs)}`;
    default:
      return fact satisfies never;
  }

  function ticker(market: number): string {
    return names.market(market).ticker;
  }

  function ofMarket({ side, market }: { side: string; market: number }): string {
    return `${side} ${ticker(market)}`;
  }
}

type FillFact = Extract<Fact, { priceCents: number; venue: number }>;

function fillOf(fact: FillFact): string {
  return `${fact.contracts} at ${fact.priceCents}c of ${VENUES[fact.venue]}${feeOf(fact)}`;
}

function feeOf({ feeCents }: FillFact): string {
  return feeCents === null ? '' : ` fee ${feeCents}c`;
}
