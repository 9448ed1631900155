import { Popover, Select } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";
import { browserZone, setZone, useZone, zones } from "@/time/zone";

/** The list of zones below its button. */
export function ZonePicker({ target, onClose }: { target: ReactNode; onClose: () => void }) {
  const zone = useZone();
  const navigate = useNavigate();
  const options = useMemo(() => [...new Set([browserZone(), ...zones()])], []);
  const choose = (name: string | null) => {
    onClose();
    if (!name) return;
    setZone(name, true);
    void navigate({ to: ".", search: ((before: object) => ({ ...before, tz: name })) as never, replace: true });
  };
  return (
    <Popover opened onChange={onClose} trapFocus returnFocus position="bottom-end">
      <Popover.Target>{target}</Popover.Target>
      <Popover.Dropdown>
        <Select
          label="Zone of all times"
          defaultDropdownOpened
          data={options}
          value={null}
          placeholder={zone}
          onChange={choose}
          searchable
          limit={50}
          data-autofocus
          comboboxProps={{ withinPortal: false }}
        />
      </Popover.Dropdown>
    </Popover>
  );
}
