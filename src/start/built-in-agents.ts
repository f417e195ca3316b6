import { createHmac } from 'node:crypto'
import { join, resolve } from 'node:path'
import { env } from 'node:process'
import type { AgentProcessEvent } from '../agents/agent-process.ts'
import { startAgentProcess } from '../agents/spawn.ts'
import type { Config } from '../config.ts'
import type { Viewer } from '../core/ports/viewer.ts'
import { Secret } from '../core/secret.ts'
import type { BuiltInAgent } from '../families/define-family.ts'
import type { Logger } from '../logger.ts'
import { ADMINISTRATOR_ID, isBuiltIn } from '../store/built-in-principals.ts'

/** Each agent's token is derived from the administrator's, so all processes of an installation know the same ones. */
export const agentToken = (administrator: Secret, { purpose }: Pick<BuiltInAgent, 'purpose'>): Secret =>
  new Secret(createHmac('sha256', administrator.reveal()).update(purpose).digest('base64url'))

/** A built-in agent, or a worker that the process runtime runs. */
export const isOurAgent = ({ actor, principalId }: Viewer): boolean =>
  actor === 'WORKER' || (isBuiltIn(principalId) && principalId !== ADMINISTRATOR_ID)

interface AgentsHost {
  readonly config: Config
  readonly gadgetFolders: readonly string[]
  /** The GraphQL endpoint, e.g. http://127.0.0.1:4000/graphql. */
  readonly url: string
  readonly administrator: Secret
  readonly logger: Logger
}

export interface RunningAgent {
  readonly types: readonly string[]
  /** Null: it has ended, and is about to be started again. */
  readonly pid: number | null
}
export interface RunningAgents extends AsyncDisposable {
  readonly processes: readonly RunningAgent[]
}

/**
 * Starts the processes of the built-in agents; each is started again when it ends. Disposing ends all of them at once: each may
 * take its time, to finish or to hand back its work.
 */
export async function startBuiltInAgents(agents: readonly BuiltInAgent[], host: AgentsHost): Promise<RunningAgents> {
  const { config, url, administrator, logger } = host
  const gadgetFolders = host.gadgetFolders.map((folder) => resolve(folder))
  const settings = {
    gadgetFolders,
    dataDir: resolve(config.dataDir),
    workloads: config.workloads,
    announce: (message: string, isWarning: boolean) => logger[isWarning ? 'warn' : 'info'](message),
  }
  const all = await Promise.all(
    agents.map(async (agent) => {
      const token = agentToken(administrator, agent)
      return (await agent.processes(settings)).map((process) => ({ ...process, token }))
    }),
  )
  // Each server has its own: gadgets of two servers must not take each other's processes for theirs.
  const state = env.PHASELINE_STATE || join(settings.dataDir, 'gadgets')
  const processes = all.flat().map((process) => {
    const { types } = process
    const running = startAgentProcess({
      ...process,
      env: { ...env, PHASELINE_STATE: state },
      url,
      traceHeaders: config.tracing?.headers,
      onEvent: (event) => logEvent(event, types, logger),
    })
    return {
      types,
      get pid() {
        return running.pid
      },
      close: () => running.close(),
    }
  })
  return {
    processes,
    async [Symbol.asyncDispose]() {
      await Promise.all(processes.map((process) => process.close()))
    },
  }
}

function logEvent(event: AgentProcessEvent, types: readonly string[], logger: Logger): void {
  const details = { ...event, agent: types.join() }
  if (event.type === 'ended' && event.restartInMs !== null)
    logger.warn(details, 'a built-in agent ended and is started again')
  else logger.debug(details, 'a built-in agent')
}
