import { StartProblem, type Workload } from './runtime.ts'

/** Variables of the runtime's own environment that a workload gets: enough to find programs and files, and no secret. */
const PASSED_ON = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'TMPDIR'] as const

/** Marks every process of a workload, whatever group or session it moves to. */
export const COOKIE = 'PHASELINE_WORKLOAD'

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/

export interface WorkloadPaths {
  /** The API's URL. */
  readonly url: string
  readonly workingFolder: string
  readonly eventFile: string
  readonly secretsFolder: string
}

/**
 * The whole environment of a workload. Secrets override `env`, and nothing overrides PHASELINE_….
 * @throws StartProblem
 */
export function workloadEnv(
  own: Readonly<Record<string, string | undefined>>,
  workload: Workload,
  { url, workingFolder, eventFile, secretsFolder }: WorkloadPaths,
): Readonly<Record<string, string>> {
  const passed = PASSED_ON.flatMap((name) => {
    const value = own[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  const env: Record<string, string> = {
    ...Object.fromEntries(passed),
    ...(workload.traceparent ? { TRACEPARENT: workload.traceparent } : {}),
    ...workload.env,
    ...workload.secrets,
    PHASELINE_URL: url,
    PHASELINE_EVENT_ID: workload.eventId,
    PHASELINE_WORKER_ID: workload.workerId,
    PHASELINE_PROJECT: workload.project,
    PHASELINE_EVENT: eventFile,
    PHASELINE_SECRETS: secretsFolder,
    PHASELINE_WORKSPACE: workingFolder,
    [COOKIE]: workload.id,
  }
  delete env.PHASELINE_TOKEN
  if (workload.token !== null) env.PHASELINE_TOKEN = workload.token
  for (const [name, value] of Object.entries(env)) {
    requireName(name)
    if (value.includes('\0')) throw new StartProblem(`The variable ${name} must not hold a NUL.`)
  }
  return env
}

/**
 * A name that is valid as a variable and as a file, as those of secrets must be.
 * @throws StartProblem
 */
export function requireName(name: string): void {
  if (!NAME.test(name))
    throw new StartProblem(`${JSON.stringify(name.slice(0, 100))} is not a valid name of a variable.`)
}
