/** What each thread of a server used for an answer, a message or a frame, as a table. */
import type { ThreadUse } from './proc.ts';
import type { Figures, Table } from './report.ts';
import { spreadOf } from './stats.ts';

/** The rounds of one load: the use of each thread, and what it was for. */
export type ThreadRounds = {
  label: string;
  rounds: readonly { threads: readonly ThreadUse[]; units: number }[];
};

/** Threads that used less of everything are one row. */
const SHOWN_FROM = 0.01;

/** @param unit what the use is divided by: `order` @param figures where they are added */
export function threadTable(
  suite: string,
  unit: string,
  loads: readonly ThreadRounds[],
  figures: Figures,
): Table {
  return {
    title: `${suite}: the whole server by thread, ${unit}`,
    columns: ['load, thread', `CPU us/${unit}`, 'of all', `bytes written/${unit}`],
    rows: loads.flatMap((load) => rowsOf(load, unit, figures)),
    notes: ['V8: its compiler and collector; libuv: files and names; both serve all threads'],
  };
}

function rowsOf({ label, rounds }: ThreadRounds, unit: string, figures: Figures): string[][] {
  const names = new Set(rounds.flatMap(({ threads }) => threads.map(({ name }) => name)));
  const of = (name: string, part: 'cpuMs' | 'writtenBytes', times: number) =>
    spreadOf(
      rounds.map(({ threads, units }) => {
        const used = threads.find((thread) => thread.name === name)?.[part] ?? 0;
        return (used * times) / units;
      }),
    );
  const used = Array.from(names, (name) => {
    return { name, cpu: of(name, 'cpuMs', 1000), written: of(name, 'writtenBytes', 1) };
  });
  const all = used.reduce((sum, { cpu }) => sum + cpu.median, 0);
  const allWritten = used.reduce((sum, { written }) => sum + written.median, 0);
  const rest = { cpu: 0, written: 0 };
  const rows: string[][] = [];
  const row = (name: string, cpu: number, written: number) => {
    const share = all === 0 ? 0 : (100 * cpu) / all;
    rows.push([`${label}, ${name}`, cpu.toFixed(2), `${share.toFixed(0)}%`, written.toFixed(0)]);
  };
  for (const { name, cpu, written } of used) {
    figures[`${label}/${name}/cpu`] = { unit: `CPU us/${unit}`, value: cpu };
    figures[`${label}/${name}/written`] = { unit: `bytes/${unit}`, value: written };
    const isShown = cpu.median >= SHOWN_FROM * all || written.median > SHOWN_FROM * allWritten;
    if (isShown) row(name, cpu.median, written.median);
    else [rest.cpu, rest.written] = [rest.cpu + cpu.median, rest.written + written.median];
  }
  if (rest.cpu + rest.written > 0) row('others', rest.cpu, rest.written);
  return rows;
}
