/** `paperbook admin track-record rotate`. Rule Y67 (engine/RULES.md). */
import type { Command } from 'commander';
import { ask, type Connect, connected, print } from './admin-connection.ts';

export function addTrackRecordCommand(admin: Command): void {
  const trackRecord = admin.command('track-record').description('signed track records');
  connected(trackRecord.command('rotate'))
    .description('sign with a new key; old public keys stay available')
    .action(async (options: Connect) => {
      print(options, await ask(options, 'POST', '/admin/track-record/rotate'));
    });
}
