import { glob, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { startEmbeddedPostgres } from '../../src/store/embedded/index.ts'

export const TEST_PREFIX = 'phaseline-test-'

/** A run that starts just now has made its folder and not locked it yet. */
const YOUNG_MS = 60_000

/**
 * A test run that was killed leaves its Postgres behind, which is what an embedded Postgres is for. Those whose run has
 * ended are taken over and stopped; one whose run still lives refuses.
 */
export async function tidyUp(): Promise<void> {
  const logger = pino({ level: 'silent' })
  for await (const name of glob(`${TEST_PREFIX}*`, { cwd: tmpdir() })) {
    const dataDir = join(tmpdir(), name)
    try {
      const { birthtimeMs } = await stat(dataDir)
      if (Date.now() - birthtimeMs < YOUNG_MS) continue
      const leftover = await startEmbeddedPostgres({ dataDir, logger })
      await leftover[Symbol.asyncDispose]()
      await rm(dataDir, { recursive: true, force: true })
    } catch {
      // In use, or being tidied up by somebody else.
    }
  }
}
