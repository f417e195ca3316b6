import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findBinaries } from '../../src/store/embedded/binaries.ts'
import { initialise } from '../../src/store/embedded/initialise.ts'
import { launch } from '../../src/store/embedded/launch.ts'
import { choosePlace, systemFolder } from '../../src/store/embedded/place.ts'
import { ensureDatabase, socketConnection, stopPostmaster } from '../../src/store/embedded/postmaster.ts'
import type { Connection } from '../../src/store/pool.ts'
import { shiftClock } from './shifted-clock.ts'

export interface ShiftedPostgres extends AsyncDisposable {
  readonly connection: Connection
  /** Sets its clock, ahead of that of the machine or behind it: `+600s`. */
  setClock(offset: string): void
}

/** A Postgres with a clock of its own, which every server on it follows. */
export async function startShiftedPostgres(): Promise<ShiftedPostgres> {
  await using starting = new AsyncDisposableStack()
  const folder = starting.adopt(await mkdtemp(join(tmpdir(), 'shifted-postgres-')), (path) =>
    rm(path, { recursive: true, force: true }),
  )
  // Postgres may run as another user than the test.
  await chmod(folder, 0o755)
  const clock = shiftClock(join(folder, 'clock'), { offset: '+0s' })
  const signal = AbortSignal.timeout(60_000)
  const place = await choosePlace(folder)
  const found = await findBinaries(place.owner, async () => (place.owner.uid === undefined ? folder : systemFolder()))
  await initialise(place, found, signal)
  const postgres = join(folder, 'postgres-with-a-clock')
  const env = Object.entries(clock.env).map(([name, value]) => `${name}='${value}'`)
  await writeFile(postgres, `#!/bin/sh\nexec env ${env.join(' ')} ${found.postgres} "$@"\n`, { mode: 0o755 })
  const settings = { fsync: 'off', shared_buffers: '32MB' }
  const postmaster = await launch({ place, binaries: { ...found, postgres }, settings, signal })
  starting.defer(() => stopPostmaster(postmaster))
  await ensureDatabase(place, 'phaseline')
  const running = starting.move()
  return {
    connection: { ...socketConnection(place), database: 'phaseline' },
    setClock: clock.set,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}
