import type { Pool } from 'pg'
import type { Logger } from '../logger.ts'
import { countByKey } from '../store/reseal.ts'
import type { Sealing } from '../store/sealing.ts'

/** Says which secrets do not open any more, since their key was removed too early. The start does not wait for it. */
export async function warnOfUnknownKeys({
  pool,
  sealing,
  logger,
}: {
  readonly pool: Pool
  readonly sealing: Pick<Sealing, 'keyIds'>
  readonly logger: Logger
}): Promise<void> {
  try {
    const unknown = (await countByKey(pool)).filter(({ keyId }) => !sealing.keyIds.includes(keyId))
    if (unknown.length > 0)
      logger.warn(
        { sealed: unknown },
        'secrets are sealed with keys that this server does not have: give it the keys again, after its newest, and run `phaseline secret reseal`',
      )
  } catch (error) {
    logger.warn({ err: error }, 'the keys of sealed secrets could not be counted')
  }
}
