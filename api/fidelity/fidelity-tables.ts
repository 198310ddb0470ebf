/** The figures of a comparison as tables for people. Rule X14 (feeds/FORMATS.md). */
import { FILL_MODELS } from '../../engine/base/units.ts';
import type { Interval } from '../../engine/records/maths/statistics.ts';
import type { Fidelity, ModelRate } from './fidelity.ts';

export type FidelityTable = {
  title: string;
  columns: readonly string[];
  rows: readonly (readonly (string | number)[])[];
};

const PLACE_NAMES = {
  joined: 'at the best price',
  improved: 'one cent better',
  one_below: 'one cent worse',
} as const;

export function fidelityTables(found: Fidelity): FidelityTable[] {
  const { windows, fillRates, markouts, takerCosts, toldApart } = found;
  const told = `${percent(toldApart)}% of the cancels say which order they were`;
  return [
    {
      title: `Resting orders filled whole, in percent (${windows} ${windows === 1 ? 'window' : 'windows'}; ${told})`,
      columns: ['order', 'contracts', 'within s', 'orders', 'market %', ...FILL_MODELS],
      rows: fillRates.map((rate) => [
        ...[PLACE_NAMES[rate.place], rate.contracts, rate.withinMs / 1000, rate.orders],
        ...[between(rate.low, rate.high), ...FILL_MODELS.map((model) => modelled(rate[model]))],
      ]),
    },
    {
      title:
        'Cents that the mid moved for the holder after a fill, single contracts that joined the best price',
      columns: ['after s', 'market', ...FILL_MODELS],
      rows: markouts.map(({ afterMs, intervals, ...of }) => [
        afterMs / 1000,
        ...(['market', ...FILL_MODELS] as const).map((name) => cents(of[name], intervals[name])),
      ]),
    },
    {
      title: 'Cents a contract that a market order cost more than its levels',
      columns: ['contracts', 'orders', ...FILL_MODELS],
      rows: takerCosts.map(({ contracts, orders, intervals, ...of }) => [
        ...[contracts, orders],
        ...FILL_MODELS.map((model) => cents(of[model], intervals[model])),
      ]),
    },
  ];
}

function between(low: number, high: number): string {
  const [from, to] = [percent(low), percent(high)];
  return from === to ? from : `${from}..${to}`;
}

function modelled({ rate, gap, interval }: ModelRate): string {
  return `${percent(rate)} (${signed(gap * 100, 1)}${reach(interval, 100, 1)})`;
}

function cents(value: number | null, interval: Interval | null): string {
  return value === null ? '-' : `${signed(value, 2)}${reach(interval, 1, 2)}`;
}

/** Half an interval's width. */
function reach(interval: Interval | null, times: number, decimals: number): string {
  if (interval === null) return '';
  return ` ±${(((interval.high - interval.low) / 2) * times).toFixed(decimals)}`;
}

function percent(share: number): string {
  return (share * 100).toFixed(1);
}

function signed(value: number, decimals: number): string {
  const text = value.toFixed(decimals);
  return Number(text) > 0 ? `+${text}` : text.replace(/^-(0\.?0*)$/, '$1');
}
