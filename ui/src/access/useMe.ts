import { useQuery } from "@tanstack/react-query";
import { asApiError } from "@/api/error";
import { server } from "@/api/queries";
import type { Me } from "@/api/types.gen";

export type Permission = "read" | "operate" | "edit" | "administer";

export interface Access {
  me: Me | undefined;
  /** No session: the login page is shown. */
  isLoggedOut: boolean;
  isDevelopment: boolean;
  /** Whether this user may do something. What a user may not do is hidden, not disabled. */
  may: (permission: Permission) => boolean;
}

/** Who uses this page: `const { may } = useMe()`, then `may("operate") && <Button ...>`. */
export function useMe(): Access {
  const { data: me, error } = useQuery({ ...server.me(), staleTime: 60_000, retry: false });
  // While the server does not answer, the page stays as it is.
  const isLoggedOut = error !== null && asApiError(error).status === 401;
  return {
    me: isLoggedOut ? undefined : me,
    isLoggedOut,
    isDevelopment: me?.kind === "development",
    may: (permission) => !isLoggedOut && (me?.permissions.includes(permission) ?? false),
  };
}
