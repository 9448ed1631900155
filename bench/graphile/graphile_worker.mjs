// graphile-worker, 20 concurrent jobs; with its local queue, jobs are fetched and completed in batches.
import { renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(join(process.env.FOLIOT_BENCH_NODE_MODULES, "package.json"));
const { Logger, makeWorkerUtils, run } = require("graphile-worker");

const order = JSON.parse(process.env.FOLIOT_BENCH_ORDER);
const AT_ONCE = 20;
const CALLERS = 100;
const BATCH = 1_000;
const silent = new Logger(() => () => {});
const settings = { connectionString: order.place, concurrentJobs: AT_ONCE, maxPoolSize: AT_ONCE + 2, logger: silent };
const localQueue = { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 };

const now = () => Number(process.hrtime.bigint()) / 1e9;

function mark(name) {
  const path = join(order.marks, name);
  writeFileSync(`${path}.part`, String(now()));
  renameSync(`${path}.part`, path);
}

async function withUtils(measure) {
  const utils = await makeWorkerUtils({ preset: { worker: settings } });
  await utils.migrate();
  const result = await measure(utils);
  await utils.release();
  console.log(JSON.stringify(result));
}

async function callFor(seconds, callers, call) {
  const began = now();
  let calls = 0;
  const one = async () => {
    while (now() - began < seconds) {
      await call();
      calls += 1;
    }
  };
  await Promise.all(Array.from({ length: callers }, one));
  return calls / (now() - began);
}

async function bulk(utils) {
  const began = now();
  for (let start = 0; start < order.count; start += BATCH) {
    const length = Math.min(BATCH, order.count - start);
    await utils.addJobs(Array.from({ length }, () => ({ identifier: "noop", payload: {} })));
  }
  return { bulk: order.count / (now() - began) };
}

async function work(more) {
  let started = 0;
  const noop = async () => {
    started += 1;
    if (started === 1) mark("first");
    if (started === order.count) mark("last");
  };
  const runner = await run({ preset: { worker: { ...settings, ...more } }, taskList: { noop } });
  await runner.promise;
}

const operations = {
  bulk: () => withUtils(bulk),
  single: () => withUtils(async (utils) => ({ single: await callFor(order.seconds, 1, () => utils.addJob("noop", {})) })),
  callers: () =>
    withUtils(async (utils) => ({ callers: await callFor(order.seconds, CALLERS, () => utils.addJob("noop", {})) })),
  work: () => work({}),
  "work-local-queue": () => work(localQueue),
};

await operations[process.argv[2]]();
