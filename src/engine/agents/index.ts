import type { AgentPort } from '../../core/ports/agents.ts'
import { countWaiting } from '../../store/work.ts'
import type { TreeRunner } from '../runner.ts'
import type { EngineParts } from '../transaction.ts'
import { AgentPresence } from './agent-presence.ts'
import { logAppender } from './append-logs.ts'
import { claimer } from './claim.ts'
import { renewer } from './renew.ts'
import { reporter } from './report.ts'
import type { Waiting } from './waiting.ts'

/** Claims, renewals and reports. Who an agent is comes from its token; what it works on, from the fence. */
export function agentPort(
  parts: EngineParts,
  runner: TreeRunner,
  onWork: (handler: (types: readonly string[]) => void) => () => void,
  waiting: Waiting,
): AgentPort {
  const presence = new AgentPresence(parts)
  onWork((types) => waiting.ring(types))
  return {
    claim: claimer({ parts, runner, presence, waiting }),
    get waitingClaims() {
      return waiting.size
    },
    stopWaiting: () => waiting.close(),
    renew: renewer(parts, presence),
    report: reporter(parts, runner),
    appendLogs: logAppender(parts),
    waiting: (types, targets) => countWaiting(parts.pool, types, targets, parts.system.fixedTime),
    onWork,
  }
}
