import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import { isDatabaseUnavailable } from '../../core/database-unavailable.ts'
import type { System } from '../../core/ports/system.ts'
import { Addresses } from '../../families/addresses.ts'
import {
  claimCheck,
  endCheck,
  listRedelivered,
  loadRedeliveryToken,
  redeliverySecretPlace,
} from '../../store/hook-redeliveries.ts'
import type { Sealing } from '../../store/sealing.ts'
import type { Hook } from '../commands/parts.ts'
import { KEPT_MS, missedDeliveries } from '../rules/missed-deliveries.ts'
import { askAgain, listAttempts } from './github-api.ts'

export interface RedelivererParts {
  readonly pool: Pool
  readonly system: Pick<System, 'now'>
  readonly sealing: Pick<Sealing, 'open'>
  readonly logger: { error(fields: object, message: string): void }
  /** Private networks that may be called. */
  readonly networks: readonly string[]
}

/** After the start, when this server can be reached again. */
const START_MS = 5_000
/** How often the list of hooks is read, and each of them is checked. */
const LOOK_MS = 60_000
const CHECK_MS = 3_600_000

/** Asks GitHub again for what it could not deliver while this server was away: after the start, and hourly. */
export function startRedeliverer(parts: RedelivererParts): AsyncDisposable {
  const stop = new AbortController()
  const addresses = new Addresses(parts.networks)
  const startedAt = parts.system.now()
  const round = async (isFirst: boolean): Promise<void> => {
    for (const hook of (await listRedelivered(parts.pool)) as readonly Hook[]) {
      if (stop.signal.aborted) return
      if (hook.isHeld) continue
      const now = parts.system.now()
      // Processes that start together check once; one that starts after a check makes its own.
      const last = isFirst ? startedAt : new Date(now.getTime() - CHECK_MS)
      if (!(await claimCheck(parts.pool, hook.id, now, last))) continue
      const problem = await check(parts, hook, addresses).catch((error: unknown) => {
        if (isDatabaseUnavailable(error)) throw error
        return error instanceof Error ? error.message : String(error)
      })
      await endCheck(parts.pool, hook.id, problem)
    }
  }
  const run = async (): Promise<void> => {
    let [wait, isFirst] = [START_MS, true]
    while (!stop.signal.aborted) {
      await delay(wait, undefined, { signal: stop.signal }).catch(() => undefined)
      if (stop.signal.aborted) return
      try {
        await round(isFirst)
        isFirst = false
      } catch (error) {
        if (!isDatabaseUnavailable(error))
          parts.logger.error({ err: error }, 'missed deliveries of hooks could not be read')
      }
      wait = LOOK_MS
    }
  }
  const loop = run()
  return {
    async [Symbol.asyncDispose]() {
      stop.abort()
      await loop
    },
  }
}

/** Why it could not be checked; null: it was. */
async function check(
  { pool, sealing, system }: RedelivererParts,
  hook: Hook,
  addresses: Addresses,
): Promise<string | null> {
  const address = hook.spec.redelivery?.address
  const sealed = await loadRedeliveryToken(pool, hook.id)
  const token = sealed && sealing.open(redeliverySecretPlace(hook), sealed)
  if (!address || !token) return 'This server lacks the key that has sealed the token.'
  const now = system.now()
  const listed = await listAttempts({ address, token }, new Date(now.getTime() - KEPT_MS), addresses)
  for (const attempt of missedDeliveries(listed, now)) await askAgain({ address, token }, attempt, addresses)
  return null
}
