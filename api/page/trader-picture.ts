/**
 * A trader's public numbers as others see them where a link is shared: a sentence, and a picture as
 * SVG. Rules A250, A251 (api/RULES.md).
 */

/** What the public sees of a trader. */
export type TraderCard = {
  /** Null: none was chosen. */
  name: string | null;
  /** Null: there are none, or they are not shown. */
  pnlDollars: number | null;
  roiPct: number | null;
  rank: number | null;
  settledPicks: number;
  won: number;
  lost: number;
  void: number;
  /** P&L of each shown pick in the order of their ends, in cents; empty: it is not shown. */
  pnlCents: readonly number[];
};

export const PICTURE = { width: 1200, height: 630 } as const;

const MINUS = '−';
const MONEY = new Intl.NumberFormat('en-US', {
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
});
const WHOLE = new Intl.NumberFormat('en-US');
const COLORS = {
  ...{ paper: '#14171a', panel: '#1b1f23', rule: '#333a41', ink: '#e6e8ea', muted: '#a2abb4' },
  ...{ accent: '#82b4f4', gain: '#5ecb90', loss: '#f2938a' },
};
const EDGE = 72;
/** The place of the line. */
const PLOT = { left: 660, top: 300, width: PICTURE.width - EDGE - 660, height: 170 };

/** `Trader` where no name was chosen. */
export function cardName({ name }: TraderCard): string {
  return name ?? 'Trader';
}

/** `+$1,234.50 with 24 settled picks: 14 won, 9 lost, 1 void. ROI +12.30%, rank 3.` */
export function cardSentence(card: TraderCard): string {
  const { pnlDollars, roiPct, rank, settledPicks } = card;
  const picks = settledPicks === 0 ? 'No settled pick yet' : `${pickCount(card)}: ${results(card)}`;
  const first = pnlDollars === null ? picks : `${signedMoney(pnlDollars)} profit or loss. ${picks}`;
  const others = [
    ...(roiPct === null ? [] : [`ROI ${signedPercent(roiPct)}`]),
    ...(rank === null ? [] : [`rank ${WHOLE.format(rank)}`]),
  ];
  return [first, ...(others.length === 0 ? [] : [others.join(', ')])].join('. ').concat('.');
}

/** The picture, 1200 by 630. */
export function traderSvg(card: TraderCard): string {
  const { pnlDollars, roiPct, rank } = card;
  const name = drawnName(card);
  const size = sizeOf(name.text);
  const big = pnlDollars === null ? pickCount(card) : signedMoney(pnlDollars);
  const bigHead = pnlDollars === null ? 'Record' : 'Profit or loss';
  const bigColor = pnlDollars === null ? COLORS.ink : colorOf(pnlDollars);
  const facts: [head: string, value: string][] = [
    ['Settled picks', WHOLE.format(card.settledPicks)],
    ...(roiPct === null ? [] : [['Return (ROI)', signedPercent(roiPct)] as [string, string]]),
    ...(rank === null ? [] : [['Rank', WHOLE.format(rank)] as [string, string]]),
  ];
  const { width, height } = PICTURE;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"
    viewBox="0 0 ${width} ${height}" font-family="DejaVu Sans" fill="${COLORS.ink}">
  <rect width="${width}" height="${height}" fill="${COLORS.paper}"/>
  <rect width="${width}" height="10" fill="${COLORS.accent}"/>
  ${bookIcon(EDGE, 54)}
  <text x="${EDGE + 56}" y="88" font-size="30" font-weight="700">Paperbook</text>
  <text x="${width - EDGE}" y="88" font-size="24" text-anchor="end" fill="${COLORS.muted}"
    >paper trading of prediction markets</text>
  <text x="${EDGE}" y="220" font-size="${size}" font-weight="700">${escapedXml(name.text)}</text>
  <text x="${EDGE}" y="310" font-size="28" fill="${COLORS.muted}">${bigHead}</text>
  <text x="${EDGE}" y="${310 + 84}" font-size="${Math.min(72, (560 / big.length) * 1.4)}"
    font-weight="700" fill="${bigColor}">${big}</text>
  <text x="${EDGE}" y="448" font-size="26" fill="${COLORS.muted}">${results(card)}</text>
  ${lineOf(card.pnlCents)}
  <path d="M${EDGE} 500H${width - EDGE}" stroke="${COLORS.rule}" stroke-width="2"/>
  ${facts
    .map(([head, value], at) => {
      const x = EDGE + at * 350;
      return `<text x="${x}" y="542" font-size="24" fill="${COLORS.muted}">${head}</text>
  <text x="${x}" y="586" font-size="36" font-weight="700">${value}</text>`;
    })
    .join('\n  ')}
</svg>
`;
}

/** The sum of the P&L after each pick; nothing of fewer than two. */
function lineOf(pnlCents: readonly number[]): string {
  if (pnlCents.length < 2) return '';
  let sum = 0;
  const sums = [0, ...pnlCents.map((cents) => (sum += cents))];
  const low = Math.min(...sums);
  const high = Math.max(...sums);
  const { left, top, width, height } = PLOT;
  const x = (at: number) => Math.round(left + (width * at) / (sums.length - 1));
  const y = (cents: number) => {
    const share = high === low ? 0.5 : (high - cents) / (high - low);
    return Math.round(top + height * share);
  };
  const points = sums.map((cents, at) => `${x(at)} ${y(cents)}`);
  const color = colorOf(sum);
  return `<path d="M${left} ${y(0)}H${left + width}" stroke="${COLORS.rule}" stroke-width="2"
    stroke-dasharray="6 8"/>
  <path d="M${points.join('L')}L${left + width} ${y(0)}L${left} ${y(0)}Z" fill="${color}"
    fill-opacity="0.16"/>
  <path d="M${points.join('L')}" fill="none" stroke="${color}" stroke-width="5"
    stroke-linejoin="round" stroke-linecap="round"/>
  <text x="${left + width}" y="${top - 24}" font-size="22" text-anchor="end"
    fill="${COLORS.muted}">last ${WHOLE.format(pnlCents.length)} settled picks</text>`;
}

function bookIcon(x: number, y: number): string {
  return `<g transform="translate(${x} ${y})"><rect width="38" height="44" rx="6"
    fill="${COLORS.accent}"/><path d="M9 13h20M9 22h20M9 31h13" stroke="${COLORS.paper}"
    stroke-width="4"/></g>`;
}

/** The letters that the fonts have. */
const DRAWABLE =
  /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{N}\p{P}\p{Zs}$+<=>^`|~]+$/u;
const NAME_WIDTH = PICTURE.width - 2 * EDGE;
const SIZES = { most: 72, least: 40 };

/** The name as far as there is room; a name of letters that cannot be drawn is not drawn in part. */
function drawnName(card: TraderCard): { text: string } {
  const whole = cardName(card).normalize('NFC');
  if (!DRAWABLE.test(whole)) return { text: 'A trader' };
  const letters = [...whole];
  let kept = letters.length;
  while (kept > 1 && widthOf(letters.slice(0, kept).join('')) * SIZES.least > NAME_WIDTH) kept--;
  const isCut = kept < letters.length;
  return {
    text: isCut
      ? `${letters
          .slice(0, kept - 1)
          .join('')
          .trimEnd()}…`
      : whole,
  };
}

function sizeOf(text: string): number {
  return Math.floor(Math.max(SIZES.least, Math.min(SIZES.most, NAME_WIDTH / widthOf(text))));
}

/** Not less than in the bold font, in its sizes. */
function widthOf(text: string): number {
  let width = 0;
  for (const letter of text) {
    width += /[MW@%mw]/.test(letter) ? 1.11 : /[\p{Lu}]/u.test(letter) ? 0.85 : 0.74;
  }
  return width;
}

function pickCount({ settledPicks }: TraderCard): string {
  return `${WHOLE.format(settledPicks)} settled pick${settledPicks === 1 ? '' : 's'}`;
}

function results({ won, lost, void: voided }: TraderCard): string {
  return `${WHOLE.format(won)} won, ${WHOLE.format(lost)} lost, ${WHOLE.format(voided)} void`;
}

function colorOf(amount: number): string {
  return amount > 0 ? COLORS.gain : amount < 0 ? COLORS.loss : COLORS.ink;
}

function signedMoney(dollars: number): string {
  const sign = dollars > 0 ? '+' : dollars < 0 ? MINUS : '';
  return `${sign}$${MONEY.format(Math.abs(dollars))}`;
}

function signedPercent(percent: number): string {
  const sign = percent > 0 ? '+' : percent < 0 ? MINUS : '';
  return `${sign}${MONEY.format(Math.abs(percent))}%`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text within HTML, SVG and their attributes. */
export function escapedXml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (letter) => ENTITIES[letter]!);
}
