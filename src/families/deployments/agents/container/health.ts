import type { ContainerInspectInfo } from 'dockerode'
import { pause } from '../../../../client/pause.ts'
import { codeOf } from '../../../../process/error-code.ts'
import { DeployError } from '../deploy-error.ts'
import { LOOPBACK } from './container-of.ts'
import { lastLinesOf } from './last-lines.ts'
import { type Config, DEFAULT_HEALTH, type Health } from './read-config.ts'
import type { Run } from './run.ts'

/** Without a check, a service has to run on for so long. */
const MOMENT_MS = 1_000
const HTTP_OK = { from: 200, to: 399 } as const

/** Waits until a service is healthy, and returns its container as it is then. @throws DeployError */
export async function untilHealthy(run: Run, config: Config, id: string): Promise<ContainerInspectInfo> {
  const { engine, context } = run
  for (let failures = 1; ; failures += 1) {
    const found = await engine.inspect(id)
    if (!found) throw new DeployError('CONTAINER_REMOVED', 'Its container was removed from outside.')
    const health = config.health ?? healthOfImage(found)
    const { retries, intervalMs } = health
    const problem = await problemOf(run, health, found)
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
async function problemOf(run: Run, health: Health, found: ContainerInspectInfo): Promise<string | null> {
  const { State } = found
  if (!State.Running || State.Restarting) return endOf(State)
  const { http, command } = health
  if (!http && !command) return await problemOfRunning(run, found)
  return (http && (await problemOfHttp(found, health))) ?? (command && (await problemOfCommand(run, health, found)))
}

/** The check of the image, which this deployer runs itself: an engine without timers, such as Podman in a container, does not. */
function healthOfImage({ Config: { Healthcheck } }: ContainerInspectInfo): Health {
  const command = commandOfTest(Healthcheck?.Test ?? [])
  if (!Healthcheck || !command) return DEFAULT_HEALTH
  // A time of 0 is the engines' default.
  const intervalMs = msOf(Healthcheck.Interval, 30_000)
  const startMs = msOf(Healthcheck.StartPeriod, 0)
  const retries = (Healthcheck.Retries || 3) + Math.ceil(startMs / intervalMs)
  return { http: null, command, intervalMs, timeoutMs: msOf(Healthcheck.Timeout, 30_000), retries }
}
const NS_PER_MS = 1e6
const msOf = (ns: number | undefined, otherwise: number): number => (ns ? Math.ceil(ns / NS_PER_MS) : otherwise)

/** Null: the image has none, or has disabled that of its base. */
function commandOfTest([kind, ...words]: readonly string[]): readonly string[] | null {
  if (kind === 'CMD' && words.length > 0) return words
  return kind === 'CMD-SHELL' ? ['/bin/sh', '-c', words.join(' ')] : null
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

async function problemOfHttp(found: ContainerInspectInfo, health: Health): Promise<string | null> {
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

async function problemOfCommand(run: Run, health: Health, { Id }: ContainerInspectInfo): Promise<string | null> {
  const code = await run.engine.execute(Id, health.command ?? [], health.timeoutMs)
  if (code === 0) return null
  return code === null
    ? `Its check takes longer than ${health.timeoutMs} ms.`
    : `Its check ends with exit code ${code}.`
}

/** The published host port of a container's port; 0: none. */
export const hostPortOf = ({ NetworkSettings }: ContainerInspectInfo, port: number): number =>
  Number(NetworkSettings.Ports[`${port}/tcp`]?.[0]?.HostPort ?? 0)
