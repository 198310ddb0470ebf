/** Whether one's own picks show an edge, in plain words. Rules A182, U53 (api/RULES.md). */
import { useEffect } from 'preact/hooks';
import type { Verdict } from '../../../client/generated.js';
import { type Fact, Facts } from '../../parts/facts.tsx';
import { Loading, Skeleton } from '../../parts/loading.tsx';
import { Notice } from '../../parts/notice.tsx';
import { verdict } from '../../state/boards.ts';
import { whole } from '../../state/format.ts';
import { intervalText, scoreText } from '../../state/score-text.ts';
import { sentence } from './board-words.ts';
import { IntervalAxis, IntervalPlot } from './interval-plot.tsx';
import { scaleOf } from './interval-scale.ts';
import { MEASURES, neededText, verdictWords } from './verdict-words.ts';
import { type Counted, FillsField, WindowField } from './window-field.tsx';

export function VerdictTab({ window, fills, onWindow, onFills }: Counted) {
  const load = () => void verdict.load(window, fills);
  useEffect(() => {
    load();
    return () => verdict.clear();
  }, [window, fills]);
  return (
    <div class="board">
      <div class="board-filters">
        <WindowField window={window} onPick={onWindow} />
        <FillsField fills={fills} onPick={onFills} />
      </div>
      <p class="hint">
        Luck makes profits, too. This asks whether your settled picks did better than luck explains,
        after the venue’s fees. Picks of one game count as one, since they win and lose together.
      </p>
      <Loading
        of={verdict.now.value}
        skeleton={<Skeleton lines={8} of="the verdict" />}
        again={load}
      >
        {(found) => <Found of={found} />}
      </Loading>
    </div>
  );
}

function Found({ of: found }: { of: Verdict }) {
  const { head, text, kind } = verdictWords(found);
  return (
    <>
      <section class={`verdict is-${kind}`} aria-label="Verdict">
        <h2>{head}</h2>
        <p>{text}</p>
      </section>
      {found.games > 0 && <Facts facts={factsOf(found)} />}
      <Plot of={found} />
      {found.notes.map((note) => (
        <Notice key={note}>
          <p>{sentence(note)}</p>
        </Notice>
      ))}
      <p class="hint">
        Somebody without an edge is told of one in 5 of 100 cases at most. Void picks do not count.
      </p>
    </>
  );
}

function factsOf({ verdict: word, basis, mean, interval, games, gamesNeeded }: Verdict): Fact[] {
  const { metric, name, meaning } = MEASURES[basis];
  return [
    { name, value: mean === null ? 'none' : scoreText(metric, mean), note: meaning },
    {
      name: 'Interval of 95%',
      value: interval === null ? 'too few games' : intervalText(metric, interval),
      note: 'The true mean is between these, in 95 of 100 cases.',
    },
    { name: 'Games', value: whole(games), note: 'With a pick of yours that counts.' },
    ...(word === 'not_yet'
      ? [
          {
            name: 'Games still needed',
            value: gamesNeeded === null ? 'not known' : whole(gamesNeeded),
            note: neededText(gamesNeeded),
          },
        ]
      : []),
  ];
}

/** The mean and its interval beside zero. */
function Plot({ of: { basis, mean, interval } }: { of: Verdict }) {
  if (mean === null) return null;
  const { metric } = MEASURES[basis];
  const scale = scaleOf([{ value: mean, interval }]);
  return (
    <div class="verdict-plot">
      <IntervalPlot scale={scale} value={mean} interval={interval} />
      <IntervalAxis scale={scale} textOf={(tick) => scoreText(metric, tick)} />
    </div>
  );
}
