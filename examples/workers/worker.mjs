// A worker without packages, for Node 18 or later. It executes shell jobs, one at a time, and stops after SIGTERM or drain.
//
//     FOLIOT_SERVER, FOLIOT_WORKER_ID, FOLIOT_WORKER_SECRET    as `foliot worker register` prints them
//     node worker.mjs
//
// See docs/reference/worker-protocol.md.

import { spawn } from "node:child_process";
import { createHash, createHmac, randomBytes } from "node:crypto";

const { FOLIOT_WORKER_ID: workerId, FOLIOT_WORKER_SECRET: secret, ...environment } = process.env;
const server = (process.env.FOLIOT_SERVER ?? "http://127.0.0.1:7070").replace(/\/+$/, "");
const lease = Number(process.env.FOLIOT_LEASE ?? "60");
let isStopping = false;
process.on("SIGTERM", () => (isStopping = true));

const sleep = (seconds) => new Promise((done) => setTimeout(done, seconds * 1000));
const now = () => performance.now() / 1000;

function sign(path, body) {
  if (!secret) return {};
  const moment = String(Math.floor(Date.now() / 1000));
  const nonce = randomBytes(16).toString("hex");
  const digest = createHash("sha256").update(body).digest("hex");
  const text = ["FOLIOT-HMAC-SHA256", "POST", path, "", digest, moment, nonce].join("\n");
  const signature = createHmac("sha256", secret).update(text).digest("hex");
  return {
    "X-Foliot-Worker": workerId,
    "X-Foliot-Timestamp": moment,
    "X-Foliot-Nonce": nonce,
    "X-Foliot-Signature": signature,
  };
}

/** Send a message. Status 0: the server could not be reached. */
async function post(name, message) {
  const url = new URL(`${server}/api/workers/${name}`);
  const body = JSON.stringify(message);
  const headers = { "Content-Type": "application/json", "X-Foliot-Protocol": "1", ...sign(url.pathname, body) };
  try {
    const answer = await fetch(url, { method: "POST", body, headers, signal: AbortSignal.timeout(40_000) });
    const content = await answer.text();
    return { status: answer.status, answer: content.startsWith("{") ? JSON.parse(content) : null };
  } catch {
    return { status: 0, answer: null };
  }
}

/** Send a message again while the server cannot be reached or is busy, until a moment. */
async function postUntil(until, name, message) {
  for (;;) {
    const sent = await post(name, message);
    if ((sent.status > 0 && sent.status < 500 && sent.status !== 429) || now() > until()) return sent;
    await sleep(1);
  }
}

const decoded = (text) => Buffer.from(text, "base64").toString();

/** Execute one run. Its lease is renewed meanwhile; if that is not possible in time, its processes are killed. */
async function execute(worker, run, definition) {
  const held = { worker, run_id: run.run_id, token: run.token };
  const spec = { ...definition.spec, ...(run.overrides ? JSON.parse(decoded(run.overrides)).spec : {}) };
  const env = { ...environment, ...spec.env, ...definition.variables, FOLIOT_RUN_ID: run.run_id };
  if (run.payload) env.FOLIOT_PAYLOAD = decoded(run.payload);
  const [file, ...args] = spec.argv ?? ["sh", "-c", spec.command];
  const child = spawn(file, args, { env, cwd: spec.cwd, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  let renewed = now();
  let status = null;
  let isLost = false;
  let isOver = false;
  const end = (why) => {
    status ??= why;
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended by itself.
    }
  };
  const leaseEnd = () => renewed + lease;

  async function watch() {
    const started = now();
    while (!isOver) {
      await sleep(Math.min(0.5, lease / 10));
      if (isOver) return;
      if (definition.timeout && now() > started + definition.timeout / 1000) end("timeout");
      else if (isStopping) end("interrupted");
      else if (now() > renewed + lease / 6) {
        const sentAt = now();
        const limit = sleep(Math.max(0.1, renewed + (lease * 2) / 3 - sentAt)).then(() => ({ status: 0 }));
        const beat = await Promise.race([post("heartbeat", { ...held, lease }), limit]);
        if (beat.status === 410) end("cancelled");
        if (beat.status === 200 || beat.status === 410) renewed = sentAt;
        else if (beat.status === 409 || beat.status === 403 || now() > renewed + (lease * 2) / 3) {
          isLost = true;
          end("lost");
        }
      }
    }
  }

  let seq = 0;
  let printing = Promise.resolve();
  const print = (stream) => (data) => {
    printing = printing.then(async () => {
      const pieces = [{ seq, stream, data: data.toString("base64") }];
      const sent = await postUntil(leaseEnd, "log", { ...held, pieces });
      if (sent.status === 200) seq += 1;
    });
  };
  child.stdout.on("data", print("stdout"));
  child.stderr.on("data", print("stderr"));
  const watching = watch();
  const code = await new Promise((done) => {
    child.on("error", () => done(127));
    child.on("close", (exit) => done(exit ?? 137));
  });
  isOver = true;
  await Promise.all([watching, printing]);
  if (isLost) return;
  const finished = { ...held, status: status ?? (code === 0 ? "success" : "failed"), exit_code: code };
  await postUntil(leaseEnd, "finish", finished);
}

let worker = null;
while (!isStopping) {
  if (worker === null) {
    const { status, answer } = await post("register", { name: "worker.mjs", kinds: ["shell"], lease });
    if ([401, 403, 426].includes(status)) {
      console.error(`refused: ${answer.error.message}`);
      process.exit(1);
    }
    if (status === 201) worker = answer.worker;
    else await sleep(1);
    continue;
  }
  const beat = await post("heartbeat", { worker, held: [], lease });
  if (beat.answer?.drain) break;
  const { status, answer } = await post("lease", { worker, limit: 1, wait: Math.min(5, lease / 3) });
  if (status === 200) {
    const [run] = answer.runs;
    const definition = answer.definitions[run.definition_id];
    if (definition.kind === "shell" && !definition.error) await execute(worker, run, definition);
    else {
      const held = { worker, run_id: run.run_id, token: run.token };
      const error = "this worker cannot execute it";
      await post("finish", { ...held, status: "failed", reason: "handler_missing", error });
    }
  } else if (status !== 204) {
    if (status === 409) worker = null;
    await sleep(1);
  }
}
if (worker !== null) await post("retire", { worker });
process.exit(0);
