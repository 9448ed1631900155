import { Link } from "@tanstack/react-router";
import { PageTitle } from "@/parts/PageTitle";

export function NotFound() {
  return (
    <>
      <PageTitle title="This page does not exist" />
      <p className="muted">
        <Link to="/">Go to the home page</Link>, or find a page with Ctrl K.
      </p>
    </>
  );
}
