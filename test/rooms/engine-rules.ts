import { playFiles } from '../room.ts';

await playFiles('test/engine/rules', 'test/model');
