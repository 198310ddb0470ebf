/** The filters of the list of trades, and of its file. */
import { SelectField, TextField } from '../../parts/field.tsx';
import { replace } from '../../state/route.ts';
import { hrefOf, type ViewProps } from '../../state/route-text.ts';
import {
  addressOfFilter,
  isBackwards,
  isFiltered,
  TRADE_STATUSES,
  type TradeFilter,
} from '../../state/trade-list.ts';
import { tradedInstruments } from '../../state/trades.ts';

type Props = Pick<ViewProps, 'query'> & { filter: TradeFilter };

const STATUS_WORDS: Readonly<Record<(typeof TRADE_STATUSES)[number], string>> = {
  open: 'Open',
  closed: 'Sold',
  settled: 'Settled',
  void: 'Void',
};
const NONE: TradeFilter = { status: null, instrumentId: null, from: null, to: null };

export function TradeFilters({ filter, query }: Props) {
  const show = (change: Partial<TradeFilter>) => {
    const address = addressOfFilter({ ...filter, ...change });
    replace(hrefOf('portfolio', '', { ...query, ...address }));
  };
  const orNull = <Text extends string>(text: Text) => (text === '' ? null : text);
  return (
    <search class="trade-filters" aria-label="Filter trades">
      <SelectField
        label="Outcome"
        value={filter.status ?? ''}
        options={[
          { value: '', text: 'Any outcome' },
          ...TRADE_STATUSES.map((value) => ({ value, text: STATUS_WORDS[value] })),
        ]}
        onPick={(status) => show({ status: status === '' ? null : status })}
      />
      <SelectField
        label="Market"
        value={filter.instrumentId ?? ''}
        options={[{ value: '', text: 'All markets' }, ...marketOptions(filter.instrumentId)]}
        onPick={(id) => show({ instrumentId: orNull(id) })}
      />
      <TextField
        label="Opened from"
        type="date"
        value={filter.from ?? ''}
        error={isBackwards(filter) ? 'This day is after the last one.' : null}
        onText={(from) => show({ from: orNull(from) })}
      />
      <TextField
        label="Opened until"
        type="date"
        value={filter.to ?? ''}
        onText={(to) => show({ to: orNull(to) })}
      />
      {isFiltered(filter) && (
        <button type="button" class="button quiet" onClick={() => show(NONE)}>
          Show all
        </button>
      )}
    </search>
  );
}

/** The instruments of all trades that were on the page, by name. */
function marketOptions(picked: string | null): { value: string; text: string }[] {
  const known = new Map(tradedInstruments.value);
  if (picked !== null && !known.has(picked)) known.set(picked, picked);
  return [...known]
    .map(([value, text]) => ({ value, text }))
    .sort((a, b) => a.text.localeCompare(b.text));
}
