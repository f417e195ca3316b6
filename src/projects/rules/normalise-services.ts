import { LIMITS } from '../../core/limits.ts'
import type { Problems } from '../../core/problems.ts'
import { checkText, checkVariable } from './names.ts'
import { checkArgv, checkProgram, type EnvInput, envOf } from './program.ts'
import type { ReadinessSpec, ServiceSpec } from './spec.ts'

/** Converts API input to the services of a workload. */

export interface ServiceInput {
  readonly name: string
  readonly image?: string | null
  readonly command?: readonly string[] | null
  readonly args?: readonly string[] | null
  readonly env?: EnvInput | null
  readonly secrets?: readonly string[] | null
  readonly ports?: readonly number[] | null
  readonly user?: number | null
  readonly readiness?: ReadinessInput | null
}
interface ReadinessInput {
  readonly port?: number | null
  readonly command?: readonly string[] | null
  readonly timeoutMs?: number | null
}

/** A label of a host name, so that every runtime can give it to a host. */
const NAME = /^[a-z]([a-z0-9-]*[a-z0-9])?$/
const NAME_RULE = `must be a name of a host: a small letter, then small letters, digits and -, at most ${LIMITS.serviceName.max} characters`
const MAX_PORT = 65_535
const MAX_USER = 2 ** 31 - 1
const READY_MS = 60_000
const MAX_READY_MS = 3_600_000

export function normaliseServices(
  input: readonly ServiceInput[],
  runtime: string,
  path: string,
  problems: Problems,
): readonly ServiceSpec[] {
  const names = new Set<string>()
  return input.map((service, i) => {
    const at = `${path}.${i}`
    if (names.has(service.name)) problems.add(`${at}.name`, 'occurs twice')
    names.add(service.name)
    return serviceOf(service, runtime, at, problems)
  })
}

function serviceOf(input: ServiceInput, runtime: string, path: string, problems: Problems): ServiceSpec {
  const { name, image = null, user = null } = input
  const ports = input.ports ?? []
  const program = { image, command: input.command ?? [], args: input.args ?? [] }
  checkServiceName(name, `${path}.name`, problems)
  checkProgram(program, runtime, path, problems)
  checkArgv(program, path, problems)
  for (const [i, secret] of (input.secrets ?? []).entries()) checkVariable(secret, `${path}.secrets.${i}`, problems)
  for (const [i, port] of ports.entries()) checkPort(port, `${path}.ports.${i}`, problems)
  if (user !== null && runtime === 'process')
    problems.add(`${path}.user`, 'must be left out: the runtime process has no users of images')
  if (user !== null && !(user >= 0 && user <= MAX_USER)) problems.add(`${path}.user`, 'must be the id of a user')
  return {
    ...{ name, ...program, user },
    env: envOf(input.env ?? [], `${path}.env`, problems),
    secrets: [...new Set(input.secrets ?? [])],
    ports: [...new Set(ports)],
    readiness: readinessOf(input.readiness ?? {}, ports, `${path}.readiness`, problems),
  }
}

function checkServiceName(name: string, path: string, problems: Problems): void {
  if (!NAME.test(name)) problems.add(path, NAME_RULE)
  else if (name === 'localhost') problems.add(path, 'must not be localhost')
  else checkVariable(hostVariable(name), path, problems)
}

/** The variable in which a workload finds the host of a service. */
const hostVariable = (name: string): string => `${name.toUpperCase().replaceAll('-', '_')}_HOST`

function checkPort(port: number, path: string, problems: Problems): void {
  if (!(port >= 1 && port <= MAX_PORT)) problems.add(path, `must be a port from 1 to ${MAX_PORT}`)
}

/** By default it has to accept connections at its first port. */
function readinessOf(
  { port = null, command, timeoutMs }: ReadinessInput,
  ports: readonly number[],
  path: string,
  problems: Problems,
): ReadinessSpec {
  const given = command ?? []
  if (port !== null) checkPort(port, `${path}.port`, problems)
  if (port !== null && given.length > 0) problems.add(path, 'must have either port or command')
  for (const [i, part] of given.entries()) checkText(part, `${path}.command.${i}`, problems)
  if (timeoutMs != null && !(timeoutMs >= 1 && timeoutMs <= MAX_READY_MS))
    problems.add(`${path}.timeoutMs`, `must be between 1 and ${MAX_READY_MS} milliseconds`)
  return {
    port: given.length > 0 ? null : (port ?? ports[0] ?? null),
    command: given,
    timeoutMs: timeoutMs ?? READY_MS,
  }
}
