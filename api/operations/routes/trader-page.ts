/**
 * The link to a trader that people share, `/t/{traderId}`: the page, with the trader's public numbers
 * for those who only read its head, and their picture. Rules A250 to A252 (api/RULES.md).
 */
import { Type } from '@sinclair/typebox';
import { Unavailable } from '../../../engine/threads/unavailable.ts';
import { NoQuery } from '../../base/common-schemas.ts';
import { ApiError } from '../../base/errors.ts';
import type { Caller } from '../../dispatch/access.ts';
import { keyed, type Route } from '../../dispatch/route.ts';
import { CodedBody } from '../../http/asset.ts';
import type { HeaderLines } from '../../http/header-lines.ts';
import { OwnAnswer } from '../../http/own-answer.ts';
import type { Pictures } from '../../page/pictures.ts';
import {
  cardName,
  cardSentence,
  escapedXml,
  PICTURE,
  type TraderCard,
  traderSvg,
} from '../../page/trader-picture.ts';
import { webBundle } from '../../page/web-bundle.ts';
import type { ServerContext } from '../server-context.ts';
import { pageText } from './page.ts';
import { picksSeen, traderSeen } from './records.ts';

/** The first segment of the addresses. */
export const TRADER_PATH = '/t';
const PICTURE_SECONDS = 300;
const PICKS_MAX = 100;
const NO_HEADERS = '' as HeaderLines;

type Options = {
  context: Pick<ServerContext, 'identity' | 'records' | 'switches'>;
  pictures: Pictures;
  /** Whether visitors without an account read public data. Rule A161. */
  hasGuests: boolean;
  scheme: 'http' | 'https';
};

/** For a listener whose callers are visitors. */
export function traderPageRoutes(options: Options): Route<Caller>[] {
  return [documentRoute(options), pictureRoute(options)];
}

const SHARED = { method: 'GET', scope: 'records:read', isPublic: true, query: NoQuery } as const;

function documentRoute({ context, hasGuests, scheme }: Options): Route<Caller> {
  return keyed({
    ...SHARED,
    path: `${TRADER_PATH}/{traderId}`,
    response: Type.String(),
    contentType: 'text/html; charset=utf-8',
    readsHeaders: ['host'],
    run: async ({ caller, param, headers }) => {
      const found = hasGuests ? await cardIfAny(context, caller, param) : null;
      const status = found === 'unknown' ? 404 : 200;
      const shown = found === null || found === 'unknown' ? null : found;
      const origin = originOf(scheme, headers.host ?? '');
      const ref = shown?.id ?? param;
      const text = pageText('page', await webBundle(), {
        hasGuests,
        up: '../',
        ...(shown === null ? {} : { title: `${cardName(shown.card)} · Paperbook` }),
        head: [
          meta('name', 'paperbook-trader', ref),
          ...(shown === null ? [] : previewOf(shown, origin)),
        ],
      });
      return new OwnAnswer(status, NO_HEADERS, text);
    },
  });
}

function pictureRoute({ context, pictures, hasGuests }: Options): Route<Caller> {
  return keyed({
    ...SHARED,
    path: `${TRADER_PATH}/{traderId}/picture.png`,
    errors: ['trader_not_found'],
    mayBeUnavailable: true,
    response: Type.String(),
    contentType: 'image/png',
    cacheSeconds: PICTURE_SECONDS,
    run: async ({ caller, param }) => {
      if (!hasGuests) throw new ApiError('trader_not_found');
      const { card } = await publicCard(context, caller, param);
      const png = await pictures.png(caller.user.id, traderSvg(card));
      // The trader may have become private while it was drawn.
      await publicCard(context, caller, param);
      return new CodedBody(null, png);
    },
  });
}

type Shown = { id: string; card: TraderCard };

/** Null: the trader is private, or the records cannot answer now. */
async function cardIfAny(
  context: Options['context'],
  caller: Caller,
  ref: string,
): Promise<Shown | null | 'unknown'> {
  try {
    return await publicCard(context, caller, ref);
  } catch (error) {
    if (error instanceof Unavailable || error === PRIVATE) return null;
    if (error instanceof ApiError) return 'unknown';
    throw error;
  }
}

const PRIVATE = new ApiError('trader_not_found');

/** What everyone sees of a public trader. Throws on an unknown one, and on a private one. */
async function publicCard(
  context: Options['context'],
  caller: Caller,
  ref: string,
): Promise<Shown> {
  // Net worth is not shown, so no bid is asked for.
  const atCost = async () => ({ markets: [], bids: null });
  const trader = await traderSeen(context, caller, ref, atCost);
  if (trader.private) throw PRIVATE;
  const asked = { limit: PICKS_MAX, after: null, seesAll: false };
  const { user, picks } = await picksSeen(context, caller, trader.id, asked);
  if (user.private) throw PRIVATE;
  const byEnd = [...picks].sort((a, b) => a.closedAtMs - b.closedAtMs);
  const { id, displayName: name, pnlDollars, roiPct, rank, numbersShown } = trader;
  const { settledPicks, won, lost, void: voided } = trader;
  const pnlCents = numbersShown ? byEnd.map((pick) => pick.pnlCents) : [];
  const results = { settledPicks, won, lost, void: voided };
  return { id, card: { name, pnlDollars, roiPct, rank, ...results, pnlCents } };
}

/** What crawlers of link previews read: Open Graph, and the names that Twitter has for it. */
function previewOf({ id, card }: Shown, origin: string | null): string[] {
  const title = `${cardName(card)} on Paperbook`;
  const sentence = cardSentence(card);
  const lines = [
    meta('name', 'description', sentence),
    meta('property', 'og:type', 'profile'),
    meta('property', 'og:site_name', 'Paperbook'),
    meta('property', 'og:title', title),
    meta('property', 'og:description', sentence),
    meta('name', 'twitter:card', 'summary_large_image'),
    meta('name', 'twitter:title', title),
    meta('name', 'twitter:description', sentence),
  ];
  if (origin === null) return lines;
  const url = `${origin}${TRADER_PATH}/${id}`;
  const picture = `${url}/picture.png`;
  return [
    ...lines,
    meta('property', 'og:url', url),
    meta('property', 'og:image', picture),
    meta('property', 'og:image:type', 'image/png'),
    meta('property', 'og:image:width', String(PICTURE.width)),
    meta('property', 'og:image:height', String(PICTURE.height)),
    meta('property', 'og:image:alt', `${title}: ${sentence}`),
    meta('name', 'twitter:image', picture),
    meta('name', 'twitter:image:alt', `${title}: ${sentence}`),
  ];
}

function meta(kind: 'name' | 'property', name: string, content: string): string {
  return `<meta ${kind}="${name}" content="${escapedXml(content)}">`;
}

/** As the caller has addressed the server; null: the Host header is no host. */
function originOf(scheme: string, host: string): string | null {
  return /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(host) ? `${scheme}://${host}` : null;
}
