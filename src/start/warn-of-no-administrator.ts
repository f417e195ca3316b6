import type { Pool } from 'pg'
import type { Config } from '../config.ts'
import type { Logger } from '../logger.ts'
import { hasAdministrator } from '../store/tokens.ts'

/** Says that a gateway has started which answers nobody who could let anybody in. */
export async function warnOfNoAdministrator(
  pool: Pool,
  { accessPolicy }: Pick<Config, 'accessPolicy'>,
  logger: Logger,
): Promise<void> {
  if (accessPolicy !== undefined || (await hasAdministrator(pool))) return
  logger.warn(
    'no administrator can open this gateway, since the database has no valid token of one: start it with PHASELINE_TOKEN, or with PHASELINE_ACCESS_POLICY',
  )
}
