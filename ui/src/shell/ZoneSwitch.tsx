import { IconWorld } from "@tabler/icons-react";
import { lazy, Suspense, useState } from "react";
import { useZone } from "@/time/zone";
import classes from "./TopBar.module.css";

const ZonePicker = lazy(() => import("./ZonePicker").then((part) => ({ default: part.ZonePicker })));

/** The zone of every time on the page. It is kept in this browser and stands in the URL, so that a link shows the same. */
export function ZoneSwitch() {
  const zone = useZone();
  const [isOpen, setOpen] = useState(false);
  const button = (
    <button
      type="button"
      className={`${classes.zone} wide`}
      title="Every time on this page is in this zone"
      aria-expanded={isOpen}
      onClick={() => setOpen(!isOpen)}
    >
      <IconWorld size={14} aria-hidden />
      {zone}
    </button>
  );
  if (!isOpen) return button;
  return (
    <Suspense fallback={button}>
      <ZonePicker target={button} onClose={() => setOpen(false)} />
    </Suspense>
  );
}
