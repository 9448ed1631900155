import { Button, Menu } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { IconCheck, IconChevronDown } from "@tabler/icons-react";

/** A menu of forms to copy: `<CopyAs forms={[{ name: "curl", text }]} />`. */
export function CopyAs({ forms }: { forms: readonly { name: string; text: string }[] }) {
  const { copy, copied } = useClipboard({ timeout: 1_500 });
  return (
    <Menu>
      <Menu.Target>
        <Button rightSection={copied ? <IconCheck size={14} /> : <IconChevronDown size={14} />}>
          {copied ? "Copied" : "Copy as"}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {forms.map(({ name, text }) => (
          <Menu.Item key={name} onClick={() => copy(text)}>
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
