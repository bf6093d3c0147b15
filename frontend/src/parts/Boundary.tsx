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
    // A chunk of an older build that is gone: the service was updated meanwhile.
    const isOld = /dynamically imported module|module script/i.test(error.message);
    const text = isOld ? "The page was updated. Load it again to go on." : error.message;
    return <Failure error={new Error(text)} onRetry={() => location.reload()} retry="Load the page again" />;
  }
}
