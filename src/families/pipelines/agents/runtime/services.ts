import type { Exit } from '../../../../agents/exit-of.ts'
import { type Service, StartProblem, type Watcher, type Workload } from './runtime.ts'
import { COOKIE, passedOn, requireEnv, serviceVariables } from './workload-env.ts'

/**
 * Runtimes share this handling of services of workloads. Services start one after the other, each finds those before it as the workload does, and a
 * workload whose service does not get ready does not start.
 */

/** Lines of a service that has ended or did not get ready. */
export const TAIL_LINES = 20

/** The secrets of a service, by name. @throws StartProblem */
export function secretsOf({ secrets }: Pick<Workload, 'secrets'>, service: Service): Readonly<Record<string, string>> {
  return Object.fromEntries(
    service.secrets.map((name) => {
      const value = secrets[name]
      if (value === undefined || !Object.hasOwn(secrets, name))
        throw cannotStart(service.name, `the project has no secret ${name}`)
      return [name, value]
    }),
  )
}

export interface ServicePaths {
  /** Variables that are passed on, of the runtime's own. */
  readonly own?: Readonly<Record<string, string | undefined>>
  readonly secretsFolder: string
  /** Secrets are files alone. */
  readonly hidesSecrets?: boolean
  readonly hostOf?: (name: string) => string
}

/** The whole environment of a service. @throws StartProblem */
export function serviceEnv(
  workload: Workload,
  service: Service,
  paths: ServicePaths,
): Readonly<Record<string, string>> {
  const { services = [] } = workload
  const before = services.slice(0, services.indexOf(service))
  return requireEnv({
    ...passedOn(paths.own ?? {}),
    ...serviceVariables(before, paths.hostOf),
    ...service.env,
    ...(paths.hidesSecrets ? {} : secretsOf(workload, service)),
    PHASELINE_SECRETS: paths.secretsFolder,
    [COOKIE]: workload.id,
  })
}

/** @param output its last lines */
export const serviceProblem = (name: string, why: string, output: readonly string[] = []): StartProblem =>
  new StartProblem(`Its service ${name} ${why}.`, 'SERVICE_FAILED', linesOf(name, output))

/** Why a service does not begin. @param why a sentence */
export const cannotStart = (name: string, why: string): StartProblem =>
  serviceProblem(name, `cannot start: ${why.trim().replace(/\.$/, '')}`)

/** For how long a service was waited for, and what for. */
export function notReady({ readiness: { port, command, timeoutMs } }: Pick<Service, 'readiness'>): string {
  const what =
    command.length > 0
      ? `${JSON.stringify(command.join(' ').slice(0, 200))} has not ended with exit code 0`
      : `nothing accepts connections at its port ${port}`
  return `was not ready within ${timeoutMs / 1_000} s: ${what}`
}

export const howItEnded = ({ exitCode, signal }: Exit): string =>
  signal === null ? `has ended with exit code ${exitCode}` : `was ended by ${signal}`

/** Tells that a service has ended while the workload runs on. */
export function tellEnded(
  { onLine }: Pick<Watcher, 'onLine'>,
  name: string,
  how: string,
  output: readonly string[],
): void {
  onLine('SYSTEM', `Its service ${name} ${how}. The workload runs on without it.`)
  for (const line of linesOf(name, output)) onLine('SYSTEM', line)
}

const linesOf = (name: string, output: readonly string[]): readonly string[] =>
  output.slice(-TAIL_LINES).map((line) => `${name}: ${line}`)
