/** The form of a backtest as it is typed, and the body that it means. Rule U51 (api/RULES.md). */
import type { BacktestRequest } from '../../client/generated.js';

export type BacktestForm = {
  league: string;
  /** Of `datetime-local`, in the browser's zone. */
  from: string;
  to: string;
  instrumentIds: string;
  side: BacktestRequest['rule']['side'];
  minPriceCents: string;
  maxPriceCents: string;
  entryMinutesBeforeStart: string;
  takeProfitCents: string;
  stopLossCents: string;
  exitMinutesBeforeStart: string;
  stakeIn: 'contracts' | 'dollars';
  stake: string;
  startBalanceDollars: string;
  fees: 'none' | 'venue_a';
  /** Empty: the server's own. */
  fillModel: '' | NonNullable<BacktestRequest['fillModel']>;
};
export type BacktestField = keyof BacktestForm;
export type BacktestErrors = Partial<Record<BacktestField, string>>;

export const FIRST_FORM: BacktestForm = {
  league: '',
  from: '',
  to: '',
  instrumentIds: '',
  side: 'favorite',
  minPriceCents: '',
  maxPriceCents: '',
  entryMinutesBeforeStart: '0',
  takeProfitCents: '',
  stopLossCents: '',
  exitMinutesBeforeStart: '',
  stakeIn: 'dollars',
  stake: '100',
  startBalanceDollars: '100000',
  fees: 'none',
  fillModel: '',
};

const INSTRUMENTS_MAX = 20_000;
const INSTRUMENT_ID = /^ins_[0-9A-HJKMNP-TV-Z]{12}$/;
const MINUTES_MAX = 60 * 24 * 30;
const AMOUNT_MAX = 1_000_000_000;
const LEAGUE_CHARACTERS_MAX = 64;

/** The body of `POST /backtest`, or the problem of each field. */
export function bodyOf(form: BacktestForm): { body: BacktestRequest } | { errors: BacktestErrors } {
  const reader = new Reader(form);
  const body: BacktestRequest = {
    markets: {
      ...reader.text('league'),
      ...reader.instant('from'),
      ...reader.instant('to'),
      ...reader.instruments(),
    },
    rule: {
      side: form.side,
      ...reader.price('minPriceCents'),
      ...reader.price('maxPriceCents'),
      ...reader.minutes('entryMinutesBeforeStart'),
      ...reader.price('takeProfitCents'),
      ...reader.price('stopLossCents'),
      ...reader.minutes('exitMinutesBeforeStart'),
    },
    stake: reader.stake(),
    ...reader.dollars('startBalanceDollars'),
    fees: form.fees,
    ...(form.fillModel === '' ? {} : { fillModel: form.fillModel }),
  };
  const errors = { ...clashesOf(body), ...reader.errors };
  return Object.keys(errors).length === 0 ? { body } : { errors };
}

/** Problems between fields that are valid on their own. */
function clashesOf({ markets, rule }: BacktestRequest): BacktestErrors {
  const { minPriceCents = 1, maxPriceCents = 99, takeProfitCents, stopLossCents } = rule;
  const { entryMinutesBeforeStart: entry = 0, exitMinutesBeforeStart: exit } = rule;
  const isStopAbove =
    stopLossCents !== undefined &&
    takeProfitCents !== undefined &&
    stopLossCents >= takeProfitCents;
  return {
    ...(markets.from !== undefined &&
      markets.to !== undefined &&
      markets.from > markets.to && { to: 'Not before the time from which games start.' }),
    ...(minPriceCents > maxPriceCents && { maxPriceCents: 'Not below the lowest price.' }),
    ...(isStopAbove && { stopLossCents: 'Below the price at which a profit is taken.' }),
    ...(exit !== undefined &&
      exit >= entry && { exitMinutesBeforeStart: 'Fewer minutes than the entry.' }),
  };
}

/** Each field as a part of the body; an empty one is left out. */
class Reader {
  readonly errors: BacktestErrors = {};
  readonly #form: BacktestForm;

  constructor(form: BacktestForm) {
    this.#form = form;
  }

  text(name: 'league') {
    const text = this.#form[name].trim();
    if (text === '') return {};
    if (text.length > LEAGUE_CHARACTERS_MAX) {
      return this.#wrong(name, `At most ${LEAGUE_CHARACTERS_MAX} characters.`);
    }
    return { [name]: text };
  }

  instant(name: 'from' | 'to') {
    const text = this.#form[name];
    if (text === '') return {};
    const ms = Date.parse(text);
    if (Number.isNaN(ms)) return this.#wrong(name, 'A date and a time.');
    return { [name]: new Date(ms).toISOString() };
  }

  instruments() {
    const ids = this.#form.instrumentIds.split(/[\s,]+/).filter((id) => id !== '');
    if (ids.length === 0) return {};
    const wrong = ids.find((id) => !INSTRUMENT_ID.test(id));
    if (wrong !== undefined) {
      return this.#wrong('instrumentIds', `${wrong} is no id, such as ins_0H1J2K3M4N5P.`);
    }
    if (ids.length > INSTRUMENTS_MAX) return this.#wrong('instrumentIds', 'At most 20,000 ids.');
    return { instrumentIds: ids };
  }

  price(name: 'minPriceCents' | 'maxPriceCents' | 'takeProfitCents' | 'stopLossCents') {
    return this.#whole(name, { least: 1, most: 99, what: 'A whole number of cents from 1 to 99.' });
  }

  minutes(name: 'entryMinutesBeforeStart' | 'exitMinutesBeforeStart') {
    const what = 'A whole number of minutes, at most 43,200 (30 days). Below 0 is after the start.';
    return this.#whole(name, { least: -MINUTES_MAX, most: MINUTES_MAX, what });
  }

  dollars(name: 'startBalanceDollars') {
    return this.#form[name].trim() === '' ? {} : this.#amount(name, name);
  }

  stake() {
    const { stakeIn } = this.#form;
    if (stakeIn === 'dollars') return this.#amount('stake', 'dollars');
    const what = 'A whole number of contracts from 1.';
    const { stake } = this.#whole('stake', { least: 1, most: AMOUNT_MAX, what });
    if (stake === undefined) return this.#wrong('stake', what);
    return { contracts: stake };
  }

  #amount(name: 'stake' | 'startBalanceDollars', as: 'dollars' | 'startBalanceDollars') {
    const text = this.#form[name].trim();
    const dollars = /^\d+(\.\d{1,2})?$/.test(text) ? Number(text) : 0;
    if (dollars >= 0.01 && dollars <= AMOUNT_MAX) return { [as]: dollars };
    return this.#wrong(name, 'Dollars from 0.01, with two decimals at most.');
  }

  #whole<Name extends BacktestField>(
    name: Name,
    { least, most, what }: { least: number; most: number; what: string },
  ): { [Key in Name]?: number } {
    const text = this.#form[name].trim();
    if (text === '') return {};
    const value = /^[-−]?\d+$/.test(text) ? Number(text.replace('−', '-')) : Number.NaN;
    if (value >= least && value <= most) return { [name]: value } as { [Key in Name]?: number };
    return this.#wrong(name, what);
  }

  #wrong(name: BacktestField, what: string): Record<never, never> {
    this.errors[name] = what;
    return {};
  }
}
