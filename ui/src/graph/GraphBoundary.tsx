import { Component, type ReactNode } from "react";
import { Note } from "@/parts/Note";

/** A graph that cannot be drawn must not hide the steps and their logs. */
export class GraphBoundary extends Component<{ children: ReactNode; instead: ReactNode }, { hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  override render() {
    if (!this.state.hasFailed) return this.props.children;
    return (
      <>
        <Note hue="look">The graph cannot be drawn. The steps and their logs are below.</Note>
        {this.props.instead}
      </>
    );
  }
}
