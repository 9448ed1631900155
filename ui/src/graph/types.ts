/** What a graph is drawn from: plain data. A WorkflowStepView of the API fits as it is. */

export interface GraphEdge {
  /** The name of the step before. */
  step: string;
  /** Results of that step with which this one follows: success, failure, skipped, complete. */
  when: readonly string[];
  /** The condition in words. "success" is not shown. */
  words?: string;
}

export interface GraphStep {
  name: string;
  kind: string;
  after: readonly GraphEdge[];
  /** Runs at the end in any case. */
  is_final?: boolean;
  recovers?: boolean;
  is_paused?: boolean;
}

/** A part of the bar of counts of a fanout. */
export interface Count {
  status: string;
  count: number;
}

/** What is known of a step in an execution. */
export interface NodeState {
  /** A name of the table of statuses. */
  status: string;
  /** One line of meaning. */
  note?: string;
  /** The note says that somebody should look. */
  isNoteworthy?: boolean;
  /** It has not begun: dashed. */
  isToCome?: boolean;
  /** It runs since then: the time that has passed is shown. */
  since?: string;
  /** Counts of the items of a fanout. */
  counts?: readonly Count[];
}

/** An item of a fanout that is folded out. */
export interface NodeItem {
  key: string;
  name: string;
  status: string;
  runId: string | null;
  note?: string;
}
