/** The foliot: the balance bar of the first clocks. */
export function Brand({ size = 22 }: { size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 22 22"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.8"
      strokeLinecap="round"
      aria-hidden="true"
    >
      <path d="M2.5 6.5h17M11 3v16" />
      <path d="M4.5 6.5v4.2M17.5 6.5v4.2" strokeWidth="3" />
      <path d="M11 14.5h3.2" stroke="var(--accent)" />
    </svg>
  );
}
