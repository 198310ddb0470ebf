/** `ava` plays test/rooms, many files in a process; `ava FILE` plays that file by itself. */
const isOfFiles = process.argv.slice(2).some((argument) => argument.endsWith('.test.ts'));

export default {
  extensions: ['ts'],
  files: isOfFiles ? ['test/**/*.test.ts'] : ['test/rooms/*.ts'],
  nodeArguments: ['--import=./test/stripped-types.js'],
  concurrency: 3,
  timeout: '2m',
  workerThreads: false,
};
