import type { AgentPort } from '../../core/ports/agents.ts'
import { projectsWith, RIGHTS } from '../../core/rights.ts'
import { countWaiting } from '../../store/work.ts'
import type { Writes } from '../../store/write-watch.ts'
import type { EngineContext } from '../context.ts'
import type { TreeRunner } from '../runner.ts'
import { targetsOf } from './access.ts'
import { AgentPresence } from './agent-presence.ts'
import { logAppender } from './append-logs.ts'
import { claimer } from './claim.ts'
import { renewer } from './renew.ts'
import { reporter } from './report.ts'

/** Claims, renewals, reports and logs. The token identifies an agent, the fence identifies its work. */
export function agentPort(
  parts: EngineContext,
  runner: TreeRunner,
  onWork: (handler: (types: readonly string[]) => void) => () => void,
  writes: Writes | undefined,
): AgentPort {
  const { dispatcher } = parts
  const presence = new AgentPresence(parts)
  onWork((types) => dispatcher.notify(types))
  return {
    claim: claimer({ parts, runner, presence, dispatcher, writes }),
    get waitingClaims() {
      return dispatcher.size
    },
    stopWaiting: () => dispatcher.close(),
    renew: renewer(parts, presence),
    report: reporter(parts, runner),
    appendLogs: logAppender(parts),
    waiting: (viewer, types, targets, targetSelector) =>
      countWaiting(parts.pool, {
        types,
        ...targetsOf(viewer, { targets, targetSelector }),
        projects: projectsWith(viewer, RIGHTS.claimWork),
        places: {},
        kinds: parts.kinds.drivenBy(viewer.actor),
        time: parts.system.fixedTime,
      }),
    onWork,
  }
}
