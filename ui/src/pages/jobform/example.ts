export const EXAMPLE = `# Everything that is defined here is stored together, or nothing of it.

[[jobs]]
id = "backup"
command = "bin/backup --all"
cron = "30 2 * * *"
timezone = "Europe/Berlin"
timeout = "2h"
retries = 2

[[workflows]]
id = "etl"
cron = "0 3 * * *"

[[workflows.steps]]
name = "extract"
command = "bin/extract"

[[workflows.steps]]
name = "load"
after = "extract"
command = "bin/load"
`;
