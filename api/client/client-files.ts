/** The files of the JavaScript client, which `npm run client` makes and both packages hold. */
import path from 'node:path';

/** The hand-written files. */
export const WRITTEN = [
  ...['client.ts', 'errors.ts', 'stream.ts', 'stream-calls.ts', 'stream-channel.ts'],
  ...['stream-link.ts', 'stream-parts.ts', 'stream-types.ts'],
];
/** The exports of the package: JavaScript with declarations. */
export const CLIENT_FILES = [...WRITTEN, 'generated.ts'].flatMap((file) => {
  const name = path.basename(file, '.ts');
  return [`${name}.js`, `${name}.d.ts`];
});
