import classes from "./Loading.module.css";
import { useDelayed } from "./useDelayed";

/** Grey lines where content will be, after 200 ms. */
export function Loading({ rows = 6 }: { rows?: number }) {
  const isShown = useDelayed(true);
  return (
    <div className={classes.loading} aria-busy="true" role="status" aria-label="loading">
      {isShown && Array.from({ length: rows }, (_, row) => <i key={String(row)} />)}
    </div>
  );
}
