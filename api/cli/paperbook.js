#!/usr/bin/env node
// Plain JavaScript that any Node can read: another version gets a sentence, not a stack trace.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major !== 22 || minor < 18) {
  process.stderr.write(
    `paperbook needs Node 22.18 or a later 22, this is ${process.versions.node}: ` +
      'run it with npm start or npx paperbook, which bring the right one\n',
  );
  process.exit(1);
}
const { run } = await import('./program.ts');
await run(process.argv);
