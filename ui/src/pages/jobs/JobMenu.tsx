import { ActionIcon, Button, Menu, Popover } from "@mantine/core";
import { IconCopy, IconDots, IconListDetails, IconPencil, IconTrash } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useMe } from "@/access/useMe";
import { useJobActions } from "./useJobActions";

interface Props {
  id: string;
  kind: string;
  /** Who owns it: only a file can change or delete the jobs of a file. */
  source: string;
  scheduleId: string | undefined;
  /** Called when it was deleted. */
  onDeleted?: () => void;
  /** True: editing has its own button beside this menu. */
  withoutEdit?: boolean;
}

/** The further actions of a job: edit, duplicate, ledger, delete. Deleting asks first. */
export function JobMenu({ id, kind, source, scheduleId, onDeleted, withoutEdit }: Props) {
  const { may } = useMe();
  const navigate = useNavigate();
  const [isAsking, setAsking] = useState(false);
  const isJob = kind !== "workflow" && kind !== "chain";
  const mayEdit = may("edit") && isJob;
  const mayDelete = mayEdit && source !== "file" && source !== "app";
  if (!mayEdit && !scheduleId) return null;
  return (
    <Popover
      opened={isAsking}
      onChange={setAsking}
      width={300}
      position="bottom-end"
      withRoles={false}
      trapFocus
      returnFocus
    >
      <Popover.Target>
        <span>
          <Menu>
            <Menu.Target>
              <ActionIcon aria-label={`More actions of ${id}`}>
                <IconDots size={16} />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              {mayEdit && !withoutEdit && (
                <Menu.Item
                  leftSection={<IconPencil size={14} />}
                  onClick={() => navigate({ to: "/jobs/$jobId/edit", params: { jobId: id } })}
                >
                  Edit
                </Menu.Item>
              )}
              {mayEdit && (
                <Menu.Item
                  leftSection={<IconCopy size={14} />}
                  onClick={() => navigate({ to: "/new/job", search: { from: id } })}
                >
                  Duplicate
                </Menu.Item>
              )}
              {scheduleId && (
                <Menu.Item
                  leftSection={<IconListDetails size={14} />}
                  onClick={() => navigate({ to: "/schedules/$scheduleId", params: { scheduleId } })}
                >
                  Ledger
                </Menu.Item>
              )}
              {mayDelete && (
                <Menu.Item color="red" leftSection={<IconTrash size={14} />} onClick={() => setAsking(true)}>
                  Delete
                </Menu.Item>
              )}
            </Menu.Dropdown>
          </Menu>
        </span>
      </Popover.Target>
      <Popover.Dropdown role="dialog" aria-label={`Delete ${id}`}>
        {isAsking && <Deletion id={id} onClose={() => setAsking(false)} onDeleted={onDeleted} />}
      </Popover.Dropdown>
    </Popover>
  );
}

interface DeletionProps {
  id: string;
  onClose: () => void;
  onDeleted?: (() => void) | undefined;
}

function Deletion({ id, onClose, onDeleted }: DeletionProps) {
  const { remove } = useJobActions();
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        remove.mutate(id, onDeleted ? { onSuccess: onDeleted } : {});
        onClose();
      }}
    >
      <h2>Delete {id}?</h2>
      <p className="muted">Its schedules are deleted too. Its runs, logs and ticks are kept.</p>
      <div className="row" style={{ marginTop: 12, justifyContent: "flex-end" }}>
        <Button onClick={onClose} data-autofocus>
          Back
        </Button>
        <Button type="submit" variant="filled" color="red">
          Delete
        </Button>
      </div>
    </form>
  );
}
