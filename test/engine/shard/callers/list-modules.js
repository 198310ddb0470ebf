/** Loaded first into each thread of a process: the URL of each module that it loads, a line each, in a file. */
import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
// Its hooks ask no others, so they must come first.
import '../../../../api/cli/kept-sources.js';

registerHooks({
  load(url, context, next) {
    appendFileSync(process.env.MODULES_FILE, `${url}\n`);
    return next(url, context);
  },
});
