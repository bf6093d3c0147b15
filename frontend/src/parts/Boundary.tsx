/** A view that fails takes nothing else with it. */
import { Component, type ReactNode } from "react";
import { Failure } from "./Helping";

export class Boundary extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state = { error: null as Error | null };

  static getDerivedStateFromError(error: Error): { error: Error } {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === null) return this.props.children;
    // A chunk that is gone though the page is new: see lib/chunks.ts.
    const isOld = /dynamically imported module|module script|preload CSS/i.test(error.message);
    const text = isOld ? "The page was updated. Load it again to go on." : error.message;
    return <Failure error={new Error(text)} onRetry={() => location.reload()} retry="Load the page again" />;
  }
}
