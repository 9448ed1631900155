import { Modal } from "@mantine/core";
import { Fragment } from "react";
import classes from "./KeysHelp.module.css";
import { SHORTCUTS, type Shortcut, shownKeys } from "./keys";

/** All keys, from the table that the handlers use. */
export function KeysHelp({ onClose }: { onClose: () => void }) {
  const all = Object.values(SHORTCUTS) as Shortcut[];
  const groups = [...new Set(all.map((one) => one.group))];
  return (
    <Modal opened onClose={onClose} title="Keys" size="lg" transitionProps={{ duration: 0 }}>
      <div className={classes.groups}>
        {groups.map((group) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>
              {all
                .filter((one) => one.group === group)
                .map((one) => (
                  <Fragment key={one.words}>
                    <dt>
                      {one.keys.map((keys, index) => (
                        <span key={keys}>
                          {index > 0 && <span className="faint">or </span>}
                          {shownKeys(keys).map((key, place) => (
                            // biome-ignore lint/suspicious/noArrayIndexKey: "g g" has the same key twice
                            <kbd key={place}>{key}</kbd>
                          ))}
                        </span>
                      ))}
                    </dt>
                    <dd>{one.words}</dd>
                  </Fragment>
                ))}
            </dl>
          </section>
        ))}
      </div>
    </Modal>
  );
}
