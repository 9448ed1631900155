import { Link } from "@tanstack/react-router";
import type { HomePage } from "@/api/types.gen";
import { Note } from "@/parts/Note";
import { MomentText } from "@/parts/times";
import { countdown, counted } from "@/time/format";
import { useNow } from "@/time/useNow";
import classes from "./home.module.css";
import { firstFires, lateCount, sentenceOf } from "./sentence";
import { noticeWords } from "./words";

/** The sentence, one line below it, and what the server has to say. */
export function Opening({ home }: { home: HomePage }) {
  const { text, hasNext } = sentenceOf(home);
  const late = lateCount(home);
  const running = home.status.depth?.running ?? home.running.length;
  const paused = home.status.paused;
  return (
    <header className={classes.opening}>
      <h1>
        {text} {hasNext && <NextFire home={home} />}
      </h1>
      <p className={classes.second}>
        <Link to="/runs" search={{ status: "running" }}>
          {running === 0 ? "Nothing" : counted(running, "run")}
        </Link>{" "}
        under way
        {late > 0 && (
          <>
            , <a href="#late">{late} late or missed</a>
          </>
        )}
        .{" "}
        {paused && (
          <>
            Paused by {paused.by || "somebody"} since <MomentText at={paused.since} />
            {paused.note && `: ${paused.note}`}.
          </>
        )}
        {!hasNext && !paused && home.next.length > 0 && <NextFire home={home} />}
      </p>
      <Notices home={home} />
    </header>
  );
}

/** "Next: backup in 4 min." */
function NextFire({ home }: { home: HomePage }) {
  const now = useNow();
  const next = firstFires(home.next).find((fire) => Date.parse(fire.at) > now) ?? home.next[0];
  if (!next) return null;
  return (
    <>
      Next:{" "}
      <Link to="/jobs/$jobId" params={{ jobId: next.job_id }}>
        {next.job_id}
      </Link>{" "}
      in {countdown(Date.parse(next.at), now)}.
    </>
  );
}

function Notices({ home }: { home: HomePage }) {
  const notices = home.status.notices.flatMap((notice) => {
    const words = noticeWords(notice);
    return words === null ? [] : [{ code: notice.code, words, isDown: notice.state === "down" }];
  });
  if (notices.length === 0) return null;
  return (
    <div className={classes.notices}>
      {notices.map(({ code, words, isDown }) => (
        <Note key={code} hue={isDown ? "bad" : "look"}>
          {words}
        </Note>
      ))}
    </div>
  );
}
