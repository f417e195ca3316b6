import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { startedAt } from './process-info.ts'

/** A running postmaster: one that we started, or one that outlived a server that was killed. */

const PORT = 5432
export const USER = 'phaseline'
/** How far the clock in postmaster.pid and the kernel's may be apart, in milliseconds. */
const CLOCK_SLACK_MS = 3_000

export interface Place {
  readonly data: string
  readonly sockets: string
}

/** The pid of the postmaster that runs on exactly this folder and socket; null: none does. */
export async function findPostmaster({ data, sockets }: Place): Promise<number | null> {
  const text = await readFile(`${data}/postmaster.pid`, 'utf8').catch(() => null)
  if (text === null) return null
  const [pid, folder, since, , socketFolder] = text.split('\n')
  const started = await startedAt(Number(pid))
  const same = folder === data && socketFolder === sockets && started !== null
  return same && Math.abs(started - Number(since) * 1_000) <= CLOCK_SLACK_MS ? Number(pid) : null
}

/** Waits until it answers; recovery after a crash may take a while. `gone` tells that it has ended instead. */
export async function untilReady(place: Place, gone: () => boolean): Promise<void> {
  for (;;) {
    if (gone()) throw new Error('The embedded Postgres ended while it was starting: see postgres.log in the data folder.')
    if (await answers(place)) return
    await delay(15)
  }
}

async function answers({ sockets }: Place): Promise<boolean> {
  const client = new Client({ ...socketConnection(sockets), database: 'postgres' })
  try {
    await client.connect()
    await client.query('select 1')
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}

export const socketConnection = (sockets: string) => ({ host: sockets, port: PORT, user: USER })

export async function ensureDatabase({ sockets }: Place, name: string): Promise<void> {
  const client = new Client({ ...socketConnection(sockets), database: 'postgres' })
  await client.connect()
  try {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [name])
    if (rowCount === 0) await client.query(`create database "${name}"`)
  } finally {
    await client.end()
  }
}

/** A fast stop: open transactions are rolled back, everything committed is kept. It is never killed. */
export async function stopPostmaster(pid: number): Promise<void> {
  process.kill(pid, 'SIGINT')
  while (isRunning(pid)) await delay(15)
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
