/** The id of the person who is signed in, as boards and traders have it. */
import { computed, signal } from '@preact/signals';
import { call } from './calls.ts';
import { report } from './problems.ts';
import { session } from './session.ts';

/** For a session of an outside auth server, which tells none. */
const asked = signal<string | null>(null);

/** Null: not known yet. */
export const ownId = computed(() => {
  const { value: now } = session;
  return now.state === 'in' ? (now.userId ?? asked.value) : null;
});

/** Asks for it where the session does not say it. */
export async function needOwnId(): Promise<void> {
  const { value: now } = session;
  if (now.state !== 'in' || now.userId !== null) return;
  asked.value = null;
  try {
    asked.value = (await call('getMe')).user.id;
  } catch (error) {
    report(error);
  }
}
