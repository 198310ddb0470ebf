/** The settings view. */
import { ViewHead } from '../../parts/view-head.tsx';

export function SettingsView() {
  return <ViewHead title="Settings" />;
}
