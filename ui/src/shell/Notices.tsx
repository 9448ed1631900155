import { lazy, Suspense } from "react";
import { useHasNotices } from "@/api/notify";

const Notifications = lazy(() => import("./noticeStore").then((part) => ({ default: part.Notifications })));

/** The place of messages, from the first one on. */
export function Notices() {
  if (!useHasNotices()) return null;
  return (
    <Suspense fallback={null}>
      <Notifications position="bottom-right" limit={4} />
    </Suspense>
  );
}
