import { type Service, StartProblem, type Workload } from './runtime.ts'

/** Variables of the runtime's own environment that a workload gets: enough to find programs and files, and no secret. */
const PASSED_ON = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'TMPDIR'] as const

/** Marks every process of a workload, whatever group or session it moves to. */
export const COOKIE = 'PHASELINE_WORKLOAD'

/** The owner of a volume's folder may be another user than the container's, so that Git would refuse the clone in it. */
export const GIT_IN_CONTAINER = {
  ...{ GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'safe.directory', GIT_CONFIG_VALUE_0: '*' },
} as const

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/

export interface WorkloadPaths {
  /** The API's URL. */
  readonly url: string
  readonly workingFolder: string
  readonly eventFile: string
  readonly secretsFolder: string
  /** The address of a service; its name by default. */
  readonly hostOf?: (name: string) => string
}

/**
 * The whole environment of a workload. Secrets override `env`, and nothing overrides PHASELINE_…. No system takes a NUL in it, or
 * in a command.
 * @throws StartProblem
 */
export function workloadEnv(
  own: Readonly<Record<string, string | undefined>>,
  workload: Workload,
  { url, workingFolder, eventFile, secretsFolder, hostOf }: WorkloadPaths,
): Readonly<Record<string, string>> {
  // The content of a file is no variable.
  const inFiles = new Set(workload.files.map(({ secret }) => secret))
  const secrets = Object.entries(workload.secrets).filter(([name]) => !inFiles.has(name))
  const env: Record<string, string> = {
    ...passedOn(own),
    ...serviceVariables(workload.services ?? [], hostOf),
    ...(workload.traceparent ? { TRACEPARENT: workload.traceparent } : {}),
    ...workload.env,
    ...Object.fromEntries(secrets),
    PHASELINE_URL: url,
    PHASELINE_EVENT_ID: workload.eventId,
    PHASELINE_WORKER_ID: workload.workerId,
    PHASELINE_PROJECT: workload.project,
    PHASELINE_EVENT: eventFile,
    PHASELINE_SECRETS: secretsFolder,
    PHASELINE_WORKSPACE: workingFolder,
    [COOKIE]: workload.id,
  }
  if ([...workload.command, ...workload.args].some((arg) => arg.includes('\0')))
    throw new StartProblem('The command must not hold a NUL.')
  delete env.PHASELINE_TOKEN
  if (workload.token !== null) env.PHASELINE_TOKEN = workload.token
  return requireEnv(env)
}

/** The variable of a service is named after it. */
const variable = (name: string, what: 'HOST' | 'PORT'): string => `${name.toUpperCase().replaceAll('-', '_')}_${what}`

/** The variables by which services are found. @param hostOf the address of a service, by its name */
export const serviceVariables = (
  services: readonly Pick<Service, 'name' | 'ports'>[],
  hostOf: (name: string) => string = (name) => name,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    services.flatMap(({ name, ports: [port] }) => [
      [variable(name, 'HOST'), hostOf(name)],
      ...(port === undefined ? [] : [[variable(name, 'PORT'), String(port)]]),
    ]),
  )

export const passedOn = (own: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> =>
  Object.fromEntries(PASSED_ON.flatMap((name) => (own[name] === undefined ? [] : [[name, own[name]]])))

/** @throws StartProblem */
export function requireEnv<T extends Readonly<Record<string, string>>>(env: T): T {
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
