/** Keeps a fault in a view from taking the whole page with it. */
import { Component, type ComponentChildren } from 'preact';
import { Notice } from './notice.tsx';

export class FaultBoundary extends Component<{ children: ComponentChildren }, { fault: unknown }> {
  override state = { fault: null as unknown };

  static override getDerivedStateFromError(fault: unknown) {
    return { fault };
  }

  override componentDidCatch(fault: unknown) {
    // The stack is for a report.
    reportError(fault);
  }

  override render() {
    const { fault } = this.state;
    if (fault === null) return this.props.children;
    return (
      <Notice kind="error">
        <p>
          This view has failed by a fault of the page:{' '}
          {fault instanceof Error ? fault.message : String(fault)}
        </p>
        <button type="button" class="button" onClick={() => location.reload()}>
          Load the page again
        </button>
      </Notice>
    );
  }
}
