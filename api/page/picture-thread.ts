/**
 * The thread that draws pictures of traders: SVG to PNG, by resvg in WebAssembly, with fonts of ours.
 * A picture takes a tenth of a second, so no thread that trades draws one. Rule A251
 * (api/RULES.md).
 */
import { readFileSync } from 'node:fs';
import os from 'node:os';
import { fileURLToPath } from 'node:url';
import { initWasm, Resvg } from '@resvg/resvg-wasm';
import { answerQuestions } from '../../engine/threads/answer-questions.ts';

/** On Linux each thread has its own priority, so this lowers only the caller's. */
os.setPriority(0, os.constants.priority.PRIORITY_LOW);

const bytesAt = (url: string) => readFileSync(fileURLToPath(url));
const fontBuffers = [
  bytesAt(import.meta.resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf')),
  bytesAt(import.meta.resolve('dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf')),
];
const ready = initWasm(bytesAt(import.meta.resolve('@resvg/resvg-wasm/index_bg.wasm')));

async function pngOf(svg: string): Promise<Uint8Array> {
  await ready;
  const drawing = new Resvg(svg, { font: { fontBuffers, defaultFontFamily: 'DejaVu Sans' } });
  try {
    const image = drawing.render();
    const png = image.asPng();
    image.free();
    return png;
  } finally {
    drawing.free();
  }
}

answerQuestions(pngOf);
