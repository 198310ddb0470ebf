import { playFiles } from '../room.ts';

await playFiles('test/api/operations', 'test/api/openapi', 'test/fuzz', 'test/simulation');
