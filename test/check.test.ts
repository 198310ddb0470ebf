/** `npm run check`, its parts at once, and beside the files of other processes. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import test from 'ava';
import { ROOT } from './test-files.ts';

const { scripts } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));

for (const command of scripts.check.split(' && ')) {
  test(`npm run check: ${command}`, async (t) => {
    const PATH = `${path.join(ROOT, 'node_modules/.bin')}:${process.env.PATH}`;
    // Its own threads, not the product's, and no coverage of the tools. tsc ends before its garbage counts.
    const { PRODUCT_OF_TESTS: _product, NODE_V8_COVERAGE: _coverage, ...env } = process.env;
    const tool = spawn('sh', ['-c', `${command} 2>&1`], {
      cwd: ROOT,
      env: { ...env, PATH, GOGC: 'off' },
    });
    const [said, code] = await Promise.all([text(tool.stdout), ended(tool)]);
    t.is(code, 0, said);
  });
}

function ended(tool: ReturnType<typeof spawn>): Promise<number | null> {
  return new Promise((resolve, reject) => {
    tool.once('error', reject);
    tool.once('exit', resolve);
  });
}
