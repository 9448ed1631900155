import { useMe } from "@/access/useMe";
import classes from "./Shell.module.css";

/** Says that requests from this machine need no credentials. */
export function DevBanner() {
  const { isDevelopment } = useMe();
  if (!isDevelopment) return null;
  return (
    <div className={classes.banner} role="note">
      Development mode: requests from this machine need no credentials. <code>foliot user add</code> creates the first
      user.
    </div>
  );
}
