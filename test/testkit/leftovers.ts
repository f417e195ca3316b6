import { glob, rm, stat, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { startEmbeddedPostgres } from '../../src/store/embedded/index.ts'

export const TEST_PREFIX = 'phaseline-test-'

/** Databases are copied to shared memory if it holds a whole run's: on a disk that takes ten times as long. */
const MEMORY = '/dev/shm'
const ENOUGH_BYTES = 4 * 1024 ** 3

/** A folder for files of this run. */
export async function fastFolder(): Promise<string> {
  const space = await statfs(MEMORY).catch(() => null)
  return space && space.bavail * space.bsize >= ENOUGH_BYTES ? MEMORY : tmpdir()
}

/** A run that starts just now has made its folder and not locked it yet. */
const YOUNG_MS = 60_000

/**
 * A test run that was killed leaves its Postgres behind, since an embedded Postgres outlives its process. If the run has
 * ended, its Postgres is taken over and stopped; one whose run still lives refuses.
 */
export async function tidyUp(): Promise<void> {
  for (const folder of [tmpdir(), MEMORY]) await tidyFolder(folder)
}

async function tidyFolder(folder: string): Promise<void> {
  const logger = pino({ level: 'silent' })
  for await (const name of glob(`${TEST_PREFIX}*`, { cwd: folder })) {
    const dataDir = join(folder, name)
    try {
      const { birthtimeMs } = await stat(dataDir)
      if (Date.now() - birthtimeMs < YOUNG_MS) continue
      const leftover = await startEmbeddedPostgres({ dataDir, logger })
      await leftover[Symbol.asyncDispose]()
      await rm(dataDir, { recursive: true, force: true })
    } catch {
      // In use, or being removed by another run.
    }
  }
}
