import test from 'ava';
import { Pages } from '../../../api/web/state/pages.ts';

type Row = { id: string };
type Page = { rows: Row[]; nextCursor: string | null };

/** Answers are given by hand, in any order. */
function asked() {
  const asks: {
    cursor: string | null;
    of: string;
    answer(ids: string, next: string | null): void;
  }[] = [];
  const pages = new Pages<[of: string], Row, Page>(
    (cursor, of) =>
      new Promise((resolve) => {
        const rowsOf = (ids: string) => [...ids].map((id) => ({ id }));
        asks.push({
          ...{ cursor, of },
          answer: (ids, nextCursor) => resolve({ rows: rowsOf(ids), nextCursor }),
        });
      }),
    ({ id }) => id,
  );
  const shown = () => {
    const { value: now } = pages.now;
    return now.state === 'ready' ? now.value.rows.map(({ id }) => id).join('') : now.state;
  };
  return { pages, asks, shown };
}

test('further pages come after the first, and a row that has moved is there once', async (t) => {
  const { pages, asks, shown } = asked();
  const first = pages.load('x');
  t.is(shown(), 'loading');
  asks[0]!.answer('abc', 'CURSOR');
  await first;
  const more = pages.more();
  t.true(pages.isMoreComing.value);
  t.like(asks[1], { cursor: 'CURSOR', of: 'x' });
  asks[1]!.answer('cde', null);
  await more;
  t.is(shown(), 'abcde');
  t.false(pages.isMoreComing.value);
  await pages.more();
  t.is(asks.length, 2, 'there is no further page');
});

test('a page of what was asked for before is not added after what is shown now', async (t) => {
  const { pages, asks, shown } = asked();
  const first = pages.load('x');
  asks[0]!.answer('ab', 'CURSOR');
  await first;
  const late = pages.more();
  const second = pages.load('y');
  asks[2]!.answer('mn', 'OTHER');
  await second;
  asks[1]!.answer('cd', null);
  await late;
  t.is(shown(), 'mn');
  const more = pages.more();
  t.like(asks[3], { cursor: 'OTHER', of: 'y' });
  asks[3]!.answer('o', null);
  await more;
  t.is(shown(), 'mno');
  pages.clear();
  t.is(shown(), 'loading');
});
