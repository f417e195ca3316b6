import { cancelJob, createJob, readEvent, readLogs, waitFor } from './phaseline.mjs'

/** The worker: `lint` and `test` at the same time, `pack` once both have succeeded. */

const NPM = { name: 'npm_config_update_notifier', value: 'false' }
const MINUTES = 60_000
/** In containers: what jobs run in. */
const { JOB_IMAGE: image } = process.env

const { name, source, type, labels } = await readEvent()
console.log(`${name}: ${type} to ${labels.branch ?? 'some branch'} of ${source}`)

try {
  await run(job('lint', ['npm', 'run', 'lint']), job('test', ['npm', 'test']))
  await run(job('pack', ['node', 'ci/pack.mjs'], [{ name: 'dist', path: 'dist' }]))
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
}

/** Jobs work in the worker's folder, where the package is. Artifacts that they leave outlast it. */
function job(name, command, artifacts = []) {
  console.log(`${name} starts: ${command.join(' ')}`)
  return createJob(name, { command, image, env: [NPM], artifacts, workspace: true, timeoutMs: 5 * MINUTES })
}

/** Until all have ended. Once one ends without success, the others are cancelled. */
async function run(...creating) {
  const jobs = await Promise.all(creating)
  let failure = ''
  const ends = jobs.map(async (job) => {
    const { phase, error } = await waitFor(job)
    for (const text of await readLogs(job)) console.log(`${job.name} | ${text}`)
    console.log(`${job.name} ${phase}${error ? `: ${error.message}` : ''}`)
    if (phase === 'SUCCEEDED' || failure) return
    failure = `${job.name} is ${phase}`
    await Promise.all(jobs.map((other) => cancelJob(other, failure)))
  })
  await Promise.all(ends)
  if (failure) throw new Error(`No package: ${failure}.`)
}
