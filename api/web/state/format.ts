/** How numbers, money and times are shown: each in one way on the whole page. */

/** A minus as wide as a plus, so that signed columns line up. */
const MINUS = '−';
const MONEY = new Intl.NumberFormat('en-US', {
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
});
const WHOLE = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

const COMPACT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });

/** `$1,234.50`, `−$3.20` */
export function money(dollars: number): string {
  return `${isBelowZero(dollars) ? MINUS : ''}$${MONEY.format(Math.abs(dollars))}`;
}

/** `+$3.20`, `−$3.20`, `$0.00` */
export function signedMoney(dollars: number): string {
  return (isAboveZero(dollars) ? '+' : '') + money(dollars);
}

/** `43¢`, `42.5¢` */
export function cents(price: number): string {
  return `${price}¢`;
}

/** `1,000` */
export function whole(count: number): string {
  return WHOLE.format(count);
}

/** `940`, `1.2K`, `3.4M` */
export function compact(count: number): string {
  return COMPACT.format(count);
}

/** `1 contract`, `1,000 contracts` */
export function counted(count: number, one: string, several = `${one}s`): string {
  return `${whole(count)} ${count === 1 ? one : several}`;
}

/** `+1.50%`, `−0.25%`, of 100 */
export function signedPercent(percent: number): string {
  const sign = isAboveZero(percent) ? '+' : isBelowZero(percent) ? MINUS : '';
  return `${sign}${MONEY.format(Math.abs(percent))}%`;
}

/** Whether it is not zero as it is shown. */
function isAboveZero(amount: number): boolean {
  return amount >= 0.005;
}

function isBelowZero(amount: number): boolean {
  return amount <= -0.005;
}

export type Clock = {
  /** `19:05` */
  time(iso: string): string;
  /** `19:05:07` */
  seconds(iso: string): string;
  /** `Tue 24 Nov, 19:05`; of today the time alone. */
  moment(iso: string, nowMs: number): string;
  /** `24 Nov 2026` */
  date(iso: string): string;
  /** `Tuesday 24 November 2026 at 19:05:07 CET`: the text of a `title`. */
  full(iso: string): string;
};

/** Times of one zone. @param zone undefined: the browser's zone */
export function clockOf(zone?: string): Clock {
  const format = (options: Intl.DateTimeFormatOptions) => {
    const made = new Intl.DateTimeFormat('en-GB', {
      ...options,
      ...(zone === undefined ? {} : { timeZone: zone }),
    });
    return (iso: string | number) => made.format(new Date(iso));
  };
  const time = format({ hour: '2-digit', minute: '2-digit' });
  const day = format({ weekday: 'short', day: 'numeric', month: 'short' });
  const date = format({ day: 'numeric', month: 'short', year: 'numeric' });
  return {
    time,
    seconds: format({ hour: '2-digit', minute: '2-digit', second: '2-digit' }),
    moment: (iso, nowMs) => (date(iso) === date(nowMs) ? time(iso) : `${day(iso)}, ${time(iso)}`),
    date,
    full: format({ dateStyle: 'full', timeStyle: 'long' }),
  };
}

/** Of the zone that the browser is in. */
export const clock = clockOf();

/** `in 5 min`, `2 h ago`, `just now` */
export function fromNow(iso: string, nowMs: number): string {
  const ms = Date.parse(iso) - nowMs;
  const length = duration(Math.abs(ms));
  if (Math.abs(ms) < 1000) return 'just now';
  return ms > 0 ? `in ${length}` : `${length} ago`;
}

const UNITS = [
  { unit: 'd', ms: 86_400_000 },
  { unit: 'h', ms: 3_600_000 },
  { unit: 'min', ms: 60_000 },
  { unit: 's', ms: 1000 },
];

/**
 * `3 d`, `2 h`, `5 min`, `12 s`, `340 ms`: the largest unit of which there is one, rounded down.
 */
export function duration(ms: number): string {
  const found = UNITS.find((one) => ms >= one.ms);
  return found === undefined
    ? `${Math.floor(ms)} ms`
    : `${Math.floor(ms / found.ms)} ${found.unit}`;
}
