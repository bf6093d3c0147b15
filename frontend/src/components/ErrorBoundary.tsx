/** Show an error instead of a view that throws; the rest of the page keeps working. */
import { Component, type ReactNode } from "react";
import { ErrorMessage } from "./MessagePage";

export class ErrorBoundary extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state = { error: null as Error | null };

  static getDerivedStateFromError(error: Error): { error: Error } {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === null) return this.props.children;
    // A chunk that is still missing after the reload in lib/lazyImport.ts.
    const isMissingChunk = /dynamically imported module|module script|preload CSS/i.test(error.message);
    const text = isMissingChunk ? "The page was updated. Reload it to continue." : error.message;
    return <ErrorMessage error={new Error(text)} onRetry={() => location.reload()} retry="Reload the page" />;
  }
}
