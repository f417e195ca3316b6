import { setTimeout as delay } from 'node:timers/promises'
import packageJson from '../../package.json' with { type: 'json' }
import type { Config } from '../config.ts'
import { check, type HealthCheck } from '../core/health.ts'
import type { FamilyDefinition } from '../families/define-family.ts'
import type { Logger } from '../logger.ts'
import type { RunningProcess } from '../main.ts'
import { openAdmin } from '../server/http/admin.ts'
import { Drain } from '../server/limits/drain.ts'
import { Readiness } from '../server/operators/readiness.ts'
import { type RunningAgent, startBuiltInAgents } from './built-in-agents.ts'
import { openTracing } from './open-tracing.ts'

/** Milliseconds within which the gateway has to answer. */
const ANSWER_MS = 2_000

interface AgentsAlone {
  readonly logger: Logger
  readonly gadgetFolders: readonly string[]
  readonly families: readonly FamilyDefinition[]
}

/** True if a process has only agents, which need a gateway and no database. */
export const isAgentsAlone = ({ roles }: Pick<Config, 'roles'>): boolean => roles.size === 1 && roles.has('agents')

/** Starts the built-in agents of a gateway elsewhere, with the port for operators. */
export async function startAgentsAlone(
  config: Config,
  { logger, gadgetFolders, families }: AgentsAlone,
): Promise<RunningProcess> {
  const { agentsUrl: url, token: administrator } = config
  if (url === undefined || administrator === undefined) throw new Error('the settings lack what agents alone need')
  await using parts = new AsyncDisposableStack()
  parts.use(await openTracing(config, logger))
  const drain = new Drain()
  const readiness = new Readiness(drain)
  const { limits, trustedProxies, metricsToken } = config
  const admin =
    config.admin &&
    parts.use(await openAdmin({ ...config.admin, limits, trustedProxies, metricsToken, readiness, logger }))
  const agents = families.flatMap((family) => family.agents)
  const folders = [...config.gadgetFolders, ...gadgetFolders]
  const started = await startBuiltInAgents(agents, { config, gadgetFolders: folders, url, administrator, logger })
  const { processes } = parts.use(started)
  readiness.started(() => measure(url, processes))
  logger.info(
    {
      version: packageJson.version,
      roles: [...config.roles],
      ...{ database: null, schema: null, epoch: null },
      ...{ gateway: url, admin: admin?.url ?? null },
    },
    'Phaseline has started',
  )
  const running = parts.move()
  return {
    ...{ origin: null, adminOrigin: admin?.url ?? null, token: administrator },
    drain() {
      drain.begin(config.drain)
      return delay(config.drain.delayMs)
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

async function measure(url: string, agents: readonly RunningAgent[]): Promise<readonly HealthCheck[]> {
  const ended = agents.filter(({ pid }) => pid === null).flatMap(({ types }) => types)
  return [
    check('agents', ended.length > 0 && `the agent of ${ended.join(', ')} has ended and is started again`),
    check('gateway', !(await answers(url)) && 'the gateway does not answer'),
  ]
}

/** A proxy may keep this path to itself: any answer but that of an outage shows the way to the gateway. */
async function answers(url: string): Promise<boolean> {
  try {
    const { status, body } = await fetch(new URL('livez', url), { signal: AbortSignal.timeout(ANSWER_MS) })
    await body?.cancel()
    return status < 500
  } catch {
    return false
  }
}
