import test from 'ava';
import { RingReader, RingWriter, ringMemory } from '../../bench/processes/ring-buffer.ts';

/** Some frames of all lengths, several times the ring's size in all. */
const FRAMES = 60_000;
const textOf = (number: number) => `${number} `.padEnd(number % 301, 'x');

function drained(reader: RingReader): string[] {
  const texts: string[] = [];
  reader.drain((kind, bytes, start, end) => {
    texts.push(`${kind}:${bytes.toString('latin1', start, end)}`);
  });
  return texts;
}

test('frames come out of a ring as they went in, round its end too', (t) => {
  const memory = ringMemory();
  const writer = new RingWriter(memory);
  const reader = new RingReader(memory);
  for (let first = 0; first < FRAMES; first += 1000) {
    const frames = Array.from({ length: 1000 }, (_, at) => first + at);
    for (const number of frames) writer.write(number % 5, textOf(number));
    t.deepEqual(drained(reader), [], 'nothing is shown before it is published');
    writer.publish();
    t.deepEqual(
      drained(reader),
      frames.map((number) => `${number % 5}:${textOf(number)}`),
    );
  }
});

test('a reader wakes for what is published while it sleeps, and for what was there before', async (t) => {
  const memory = ringMemory();
  const writer = new RingWriter(memory);
  const reader = new RingReader(memory);
  const asleep = reader.arrival();
  writer.write(1, 'late');
  writer.publish();
  await asleep;
  t.deepEqual(drained(reader), ['1:late']);
  writer.write(2, 'early');
  writer.publish();
  await reader.arrival();
  t.deepEqual(drained(reader), ['2:early']);
});

test('a ring that is full says so', (t) => {
  const writer = new RingWriter(ringMemory());
  const text = 'x'.repeat(100_000);
  t.throws(
    () => {
      for (let frame = 0; frame < 1000; frame++) writer.write(0, text);
    },
    { message: /too small/ },
  );
});
