import test from 'ava';
import fc from 'fast-check';
import { Fifo } from '../../../engine/base/fifo.ts';

test('what came first leaves first, however many came and left', (t) => {
  const steps = fc.array(fc.integer({ min: -3000, max: 3000 }), { maxLength: 30 });
  fc.assert(
    fc.property(steps, (counts) => {
      const fifo = new Fifo<number>();
      const model: number[] = [];
      let next = 0;
      for (const count of counts) {
        for (let n = 0; n < count; n++) {
          fifo.push(next);
          model.push(next++);
        }
        for (let n = 0; n > count; n--) t.is(fifo.shift(), model.shift());
        t.is(fifo.length, model.length);
        t.is(fifo.first, model[0]);
        if (model.length > 0) {
          const at = next % model.length;
          t.is<number, number>(fifo.at(at), model[at]!);
          fifo.replace(at, -next);
          model[at] = -next;
        }
        t.throws(() => fifo.replace(model.length, 0));
      }
      t.deepEqual(fifo.clear(), model);
      t.is(fifo.shift(), undefined);
    }),
    { numRuns: 20 },
  );
});
