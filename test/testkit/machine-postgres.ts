import { execFile, spawnSync } from 'node:child_process'
import { access, constants, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { launch } from '../../src/store/embedded/launch.ts'
import { choosePlace, ownedFolder } from '../../src/store/embedded/place.ts'
import { socketConnection, stopPostmaster, USER } from '../../src/store/embedded/postmaster.ts'

export interface MachinePostgres extends AsyncDisposable {
  readonly host: string
  readonly port: number
  readonly user: string
}

/** The major version of a program of Postgres; 0: it does not run here. */
export function majorOf(program: string): number {
  const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' })
  return Number(/\b(\d+)\.\d/.exec(stdout ?? '')?.[1] ?? 0)
}

/** A server of the very version of this machine's pg_dump, which can copy it; null: none is installed. */
export async function startMachinePostgres(): Promise<MachinePostgres | null> {
  const bin = await findBin(majorOf('pg_dump'))
  if (bin === null) return null
  await using starting = new AsyncDisposableStack()
  const folder = starting.adopt(await mkdtemp(join(tmpdir(), 'machine-postgres-')), (path) =>
    rm(path, { recursive: true, force: true }),
  )
  const place = await choosePlace(folder)
  await ownedFolder(place.data, place.owner)
  const args = [
    '-D',
    place.data,
    '-U',
    USER,
    '--auth=trust',
    '--no-instructions',
    '--no-sync',
    '-E',
    'UTF8',
    '--locale=C',
  ]
  await promisify(execFile)(join(bin, 'initdb'), args, { ...place.owner, cwd: '/', env: { LC_ALL: 'C', TZ: 'UTC' } })
  const binaries = { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres'), major: majorOf('pg_dump') }
  const settings = { fsync: 'off', shared_buffers: '16MB' }
  const postmaster = await launch({ place, binaries, settings, signal: AbortSignal.timeout(30_000) })
  starting.defer(() => stopPostmaster(postmaster))
  const running = starting.move()
  return { ...socketConnection(place), [Symbol.asyncDispose]: () => running.disposeAsync() }
}

/** Debian hides the programs of each version behind links to one script, so several folders are searched. */
async function findBin(major: number): Promise<string | null> {
  if (major === 0) return null
  const shown = spawnSync('pg_config', ['--bindir'], { encoding: 'utf8' }).stdout?.trim()
  const candidates = [...(shown ? [shown] : []), `/usr/lib/postgresql/${major}/bin`, `/usr/pgsql-${major}/bin`]
  for (const bin of [...candidates, ...(process.env.PATH ?? '').split(':')]) {
    if ((await areThere(bin)) && majorOf(join(bin, 'postgres')) === major) return bin
  }
  return null
}
const areThere = (bin: string): Promise<boolean> =>
  Promise.all(['initdb', 'postgres'].map((name) => access(join(bin, name), constants.X_OK))).then(
    () => true,
    () => false,
  )
