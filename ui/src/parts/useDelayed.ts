import { useEffect, useState } from "react";

const DELAY = 200;

/** Return true once `isOn` has been true for 200 ms: short waits show nothing, so that nothing flickers. */
export function useDelayed(isOn: boolean): boolean {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    if (!isOn) return setShown(false);
    const timer = setTimeout(() => setShown(true), DELAY);
    return () => clearTimeout(timer);
  }, [isOn]);
  return isOn && isShown;
}
