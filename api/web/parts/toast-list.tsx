/** What happens to the account, for some seconds over any view. Rule U43 (api/RULES.md). */
import { useEffect, useRef, useState } from 'preact/hooks';
import { events } from '../state/account.ts';
import { type ShownEvent, type Toast, toastOf } from '../state/event-words.ts';

const SHOWN_MS = 8000;
const TOGETHER_MAX = 3;

export function ToastList() {
  const [toasts, setToasts] = useState<readonly Toast[]>([]);
  const seen = useRef(new Set<string>());
  const timers = useRef(new Set<number>());
  const { value: latest } = events;
  const dismiss = (id: string) => setToasts((now) => now.filter((one) => one.id !== id));
  useEffect(() => {
    const news = newOf(latest, seen.current);
    if (news.length === 0) return;
    setToasts((now) => [...now, ...news].slice(-TOGETHER_MAX));
    for (const { id } of news) timers.current.add(setTimeout(() => dismiss(id), SHOWN_MS));
  }, [latest]);
  useEffect(() => {
    return () => {
      for (const timer of timers.current) clearTimeout(timer);
    };
  }, []);
  return (
    <div class="toasts" role="status">
      {toasts.map(({ id, kind, sentence, href }) => (
        <div key={id} class={`toast is-${kind}`}>
          <a href={href}>{sentence}</a>
          <button type="button" class="button quiet" onClick={() => dismiss(id)}>
            <span aria-hidden="true">×</span>
            <span class="sr">Dismiss</span>
          </button>
        </div>
      ))}
    </div>
  );
}

/** The oldest first. */
function newOf(latest: readonly ShownEvent[], seen: Set<string>): Toast[] {
  const news = latest.filter(({ eventId }) => !seen.has(eventId));
  for (const { eventId } of news) seen.add(eventId);
  return news.toReversed().flatMap((event) => toastOf(event) ?? []);
}
