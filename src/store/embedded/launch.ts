import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open, readFile, rename, stat } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { identityOf } from '../../process/identity.ts'
import type { Binaries } from './binaries.ts'
import type { Place } from './place.ts'
import { ask, type Postmaster, readPidFile, stopAtExit, stopPostmaster } from './postmaster.ts'
import { EmbeddedPostgresProblem } from './problem.ts'

const MAX_LOG_BYTES = 10 * 1024 * 1024

/** On the command line rather than in a file, so that they are this version's, whichever version created the data. */
const SETTINGS = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  max_connections: '100',
  shared_buffers: '256MB',
  wal_compression: 'on',
  max_wal_size: '2GB',
  checkpoint_timeout: '15min',
  checkpoint_completion_target: '0.9',
  random_page_cost: '1.1',
  autovacuum_naptime: '15s',
  // Our statements are small; and parallel ones need a /dev/shm larger than containers have.
  max_parallel_workers_per_gather: '0',
  // Values in a statement may be secret, so errors are logged without their statements and details.
  log_min_messages: 'warning',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
}

export interface LaunchOptions {
  readonly place: Place
  readonly binaries: Binaries
  /** In addition to ours. */
  readonly settings: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/** Milliseconds that the processes of a postmaster that was killed get to notice it. */
const SURVIVORS_MS = 10_000
const SURVIVORS_RETRY_MS = 100
/** The words of Postgres, which has no locale here. */
const SURVIVORS = /pre-existing shared memory block/

/**
 * Starts a postmaster where none runs and waits until it answers, however long its recovery takes. An abort stops it again.
 * @throws EmbeddedPostgresProblem
 */
export async function launch(options: LaunchOptions): Promise<Postmaster> {
  for (const since = performance.now(); ; ) {
    try {
      return await launchOnce(options)
    } catch (error) {
      const isLate = performance.now() - since > SURVIVORS_MS
      if (isLate || !(error instanceof EmbeddedPostgresProblem && SURVIVORS.test(error.message))) throw error
      await delay(SURVIVORS_RETRY_MS, undefined, { signal: options.signal })
    }
  }
}

async function launchOnce({ place, binaries, settings, signal }: LaunchOptions): Promise<Postmaster> {
  const log = await openLog(place.log)
  const all = { ...SETTINGS, ...settings }
  const options = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  // Postgres believes that the pid in this file is a running postmaster, even if it is a zombie or another process by
  // now, unless it is the pid of its grandparent. Without the file it would not search for survivors of a killed one.
  const stale = await readPidFile(place)
  // A process group of its own, so that Ctrl-C in a terminal reaches us first and it goes down last.
  const child = spawn(binaries.postgres, ['-D', place.data, '-k', place.sockets, ...options], {
    ...place.owner,
    cwd: '/',
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
    env: { LC_ALL: 'C', TZ: 'UTC', ...(stale && { PG_GRANDPARENT_PID: String(stale.pid) }) },
  })
  await once(child, 'spawn').finally(() => log.close())
  child.unref()
  const pid = child.pid as number
  const postmaster = { pid, identity: await identityOf(pid) }
  using _ = stopAtExit(() => postmaster)
  while (!(await ask(place))) {
    if (child.exitCode !== null || child.signalCode !== null) throw await whyItEnded(place)
    if (signal.aborted) await stopPostmaster(postmaster)
    signal.throwIfAborted()
    await delay(10)
  }
  return postmaster
}

async function openLog(file: string) {
  const size = await stat(file).then(
    (found) => found.size,
    () => 0,
  )
  if (size > MAX_LOG_BYTES) await rename(file, `${file}.1`)
  return open(file, 'a', 0o600)
}

async function whyItEnded({ log }: Place): Promise<EmbeddedPostgresProblem> {
  const lines = (await readFile(log, 'utf8').catch(() => '')).trimEnd().split('\n')
  const end = lines.slice(-3).join('\n')
  return new EmbeddedPostgresProblem(`The embedded Postgres ended while it was starting; ${log} ends with:\n${end}`, {
    isTemporary: true,
  })
}
