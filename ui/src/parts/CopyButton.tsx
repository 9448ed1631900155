import { ActionIcon, Tooltip } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { IconCheck, IconCopy } from "@tabler/icons-react";

/** Copies a text: `<CopyButton text={run.id} label="Copy the run id" />`. */
export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
  const { copy, copied } = useClipboard({ timeout: 1_500 });
  return (
    <Tooltip label={copied ? "Copied" : label}>
      <ActionIcon size={24} aria-label={label} onClick={() => copy(text)}>
        {copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
      </ActionIcon>
    </Tooltip>
  );
}
