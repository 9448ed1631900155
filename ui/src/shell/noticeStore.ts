import { type NotificationData, notifications } from "@mantine/notifications";

export { Notifications } from "@mantine/notifications";

export function showNotice(data: NotificationData): void {
  notifications.show(data);
}
