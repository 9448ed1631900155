import type { AuditView } from "@/api/types.gen";
import { Drawer } from "@/parts/Drawer";
import { KeyValue } from "@/parts/KeyValue";
import { MomentText } from "@/parts/times";
import classes from "./Audit.module.css";
import { differences } from "./differences";
import { Subject } from "./Subject";

interface Props {
  entry: AuditView;
  title: string;
  onClose: () => void;
  onPrevious: (() => void) | undefined;
  onNext: (() => void) | undefined;
}

/** One change: what was so before, and what is so now. */
export function AuditDrawer({ entry, title, ...drawer }: Props) {
  const found = differences(entry.before, entry.after);
  return (
    <Drawer title={title} {...drawer}>
      <KeyValue
        facts={[
          ["when", <MomentText key="at" at={entry.at} full />],
          ["who", entry.actor],
          ["note", entry.detail || null],
          ["what", <Subject key="what" kind={entry.kind} id={entry.id} />],
        ]}
      />
      {found.map(({ field, before, after }) => (
        <div key={field} className={classes.change}>
          <span className="faint">{field}</span>
          {before !== null && <span className={classes.before}>{before}</span>}
          {after !== null && <span className={classes.after}>{after}</span>}
        </div>
      ))}
      {found.length === 0 && <p className="faint">No values are stored with this change.</p>}
    </Drawer>
  );
}
