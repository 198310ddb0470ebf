import test from 'ava';
import { roiPct } from '../../../../engine/records/maths/roi.ts';

test('Y24, Z9: ROI has two decimals, halves away from zero, and none without a cost', (t) => {
  t.is(roiPct(1, 20_000), 0.01);
  t.is(roiPct(-1, 20_000), -0.01);
  t.is(roiPct(-1, 20_001), 0);
  t.is(roiPct(5000, 4000), 125);
  t.is(roiPct(0, 0), null);
});
