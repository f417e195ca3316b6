import type { ContainerInspectInfo } from 'dockerode'
import { pause } from '../../../../client/pause.ts'
import { codeOf } from '../../../../process/error-code.ts'
import { DeployError } from '../deploy-error.ts'
import { LOOPBACK } from './container-of.ts'
import { lastLinesOf } from './last-lines.ts'
import type { Config } from './read-config.ts'
import type { Run } from './run.ts'

/** Without a check, a service has to run on for so long. */
const MOMENT_MS = 1_000
const HTTP_OK = { from: 200, to: 399 } as const

/** Waits until a service is healthy, and returns its container as it is then. @throws DeployError */
export async function untilHealthy(run: Run, config: Config, id: string): Promise<ContainerInspectInfo> {
  const { engine, context } = run
  const { retries, intervalMs } = config.health
  for (let failures = 1; ; failures += 1) {
    const found = await engine.inspect(id)
    if (!found) throw new DeployError('CONTAINER_REMOVED', 'Its container was removed from outside.')
    const problem = await problemOf(run, config, found)
    if (problem === null) return found
    context.signal.throwIfAborted()
    const step = `Not healthy yet: ${problem}`
    context.report({ progress: { step, value: failures, total: retries, unit: 'checks' } })
    if (failures >= retries)
      throw new DeployError('CONTAINER_UNHEALTHY', `${problem}${await lastLinesOf(run, config, id)}`)
    await pause(intervalMs, context.signal)
    context.signal.throwIfAborted()
  }
}

/** Null: it is healthy. */
async function problemOf(run: Run, config: Config, found: ContainerInspectInfo): Promise<string | null> {
  const { State } = found
  if (!State.Running || State.Restarting) return endOf(State)
  const { http, command } = config.health
  if (!http && !command) return await problemOfRunning(run, found)
  return (http && (await problemOfHttp(found, config))) ?? (command && (await problemOfCommand(run, config, found)))
}

async function problemOfRunning({ engine, context }: Run, { Id, State }: ContainerInspectInfo): Promise<string | null> {
  await pause(MOMENT_MS, context.signal)
  const now = await engine.inspect(Id)
  if (now?.State.Running && now.State.StartedAt === State.StartedAt) return null
  return now ? endOf(now.State) : 'It was removed from outside.'
}

/** A restarted container has an exit code of 0 until it ends again. */
const HAS_ENDED = new Set<string>(['exited', 'dead', 'restarting'])
const endOf = ({ Status, ExitCode }: ContainerInspectInfo['State']): string =>
  HAS_ENDED.has(Status) ? `It has ended with exit code ${ExitCode}.` : 'It has ended, and is started again.'

async function problemOfHttp(found: ContainerInspectInfo, { health }: Config): Promise<string | null> {
  const { path = '/', port = 0 } = health.http ?? {}
  const url = `http://${LOOPBACK}:${hostPortOf(found, port)}${path}`
  try {
    const answer = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(health.timeoutMs) })
    await answer.body?.cancel()
    const { status } = answer
    return status >= HTTP_OK.from && status <= HTTP_OK.to ? null : `${path} is answered with status ${status}.`
  } catch (error) {
    const isLate = error instanceof Error && error.name === 'TimeoutError'
    const why = isLate ? `not within ${health.timeoutMs} ms` : codeOf(error instanceof Error ? error.cause : error)
    return `${path} is not answered: ${why}.`
  }
}

async function problemOfCommand(run: Run, { health }: Config, { Id }: ContainerInspectInfo): Promise<string | null> {
  const code = await run.engine.execute(Id, health.command ?? [], health.timeoutMs)
  if (code === 0) return null
  return code === null
    ? `Its check takes longer than ${health.timeoutMs} ms.`
    : `Its check ends with exit code ${code}.`
}

/** The published host port of a container's port; 0: none. */
export const hostPortOf = ({ NetworkSettings }: ContainerInspectInfo, port: number): number =>
  Number(NetworkSettings.Ports[`${port}/tcp`]?.[0]?.HostPort ?? 0)
