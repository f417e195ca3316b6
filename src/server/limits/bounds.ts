import { DEFAULT_LIMITS, type GatewayLimits } from '../../core/gateway-limits.ts'
import { Callers } from './callers.ts'
import { FairTurns } from './fair-turns.ts'
import { LateRefusals } from './late-refusals.ts'
import { Pace } from './pace.ts'
import { Refusals } from './refusals.ts'
import { UnreadBytes } from './unread-bytes.ts'

/** The bounds on the clients of one gateway. */
export interface Bounds {
  readonly limits: GatewayLimits
  readonly refusals: Refusals
  readonly lateRefusals: LateRefusals
  readonly unread: UnreadBytes
  readonly callers: Callers
  readonly turns: FairTurns
  /** The paces of pages, of bodies that are thrown away, and of artifacts. */
  readonly pages: Pace
  readonly discards: Pace
  readonly transfers: Pace
}

export function createBounds(changed: Partial<GatewayLimits> = {}, trustedProxies: readonly string[] = []): Bounds {
  const limits = { ...DEFAULT_LIMITS, ...changed }
  return {
    limits,
    refusals: new Refusals(),
    lateRefusals: new LateRefusals(),
    unread: new UnreadBytes(limits.unreadBytes),
    callers: new Callers(limits, trustedProxies),
    turns: new FairTurns(),
    pages: new Pace(),
    discards: new Pace(),
    transfers: new Pace(),
  }
}
