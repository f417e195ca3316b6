import { writeFile } from 'node:fs/promises'
import { createServer, connect as dial, type Socket } from 'node:net'
import { join } from 'node:path'
import { Client } from 'pg'
import { freePort } from '../testkit/redis.ts'
import { until } from '../testkit/wait.ts'
import { ownedFolder, startProgram } from './programs.ts'

const PASSWORD = 'of the tests'
const BIN = '/usr/lib/postgresql/15/bin'

/** A server of the cluster, with its Patroni. */
export interface Member {
  readonly name: string
  readonly port: number
  /** Kills Postgres and all of its processes with -9. Patroni survives. */
  crash(): Promise<void>
  /** Its standbys get nothing more from it. */
  cutStandbys(): Disposable
  isPrimary(): Promise<boolean>
}

interface PatroniCluster extends AsyncDisposable {
  /** Both servers, for DATABASE_URL. */
  readonly url: string
  /** The primary takes writes, and the standby follows it. */
  roles(): Promise<{ readonly primary: Member; readonly standby: Member }>
  /** Waits until the standby follows, as a synchronous one or not. */
  replicate(mode: 'synchronous' | 'asynchronous'): Promise<void>
  /** On the one that takes writes. */
  query(text: string): Promise<readonly Record<string, unknown>[]>
}

export async function startPatroni(): Promise<PatroniCluster> {
  await using starting = new AsyncDisposableStack()
  const folder = starting.use(await ownedFolder())
  const etcd = await freePort()
  const peer = await freePort()
  const at = (port: number) => `http://127.0.0.1:${port}`
  starting.use(
    startProgram(
      'etcd',
      [
        ...['--data-dir', join(folder.path, 'etcd'), '--unsafe-no-fsync', '--log-level', 'error'],
        ...['--listen-client-urls', at(etcd), '--advertise-client-urls', at(etcd)],
        ...['--listen-peer-urls', at(peer), '--initial-advertise-peer-urls', at(peer)],
        ...['--initial-cluster', `default=${at(peer)}`],
      ],
      folder.path,
    ),
  )
  await until(async () => (await fetch(`${at(etcd)}/health`).catch(() => null))?.ok, { what: 'etcd answers' })
  const members: (Member & { readonly rest: number })[] = []
  for (const name of ['one', 'two']) {
    members.push(await startMember({ name, folder: folder.path, etcd, stack: starting }))
    const [first] = members
    // The first one makes the database that the second one copies.
    await until(async () => first && (await first.isPrimary()), { what: 'the first server takes writes' })
  }
  const url = `postgresql://postgres:${encodeURIComponent(PASSWORD)}@${members.map(({ port }) => `127.0.0.1:${port}`).join(',')}/postgres`
  const roles = () =>
    until(
      async () => {
        const are = await Promise.all(members.map((member) => member.isPrimary().catch(() => false)))
        const primary = members[are.indexOf(true)]
        const standby = members[are.indexOf(false)]
        return primary && standby ? { primary, standby } : null
      },
      { what: 'one server takes writes' },
    )
  const query = async (text: string) => ask((await roles()).primary.port, text)
  const running = starting.move()
  return {
    url,
    roles,
    query,
    async replicate(mode) {
      const isSynchronous = mode === 'synchronous'
      const body = JSON.stringify({ synchronous_mode: isSynchronous })
      const set = () => fetch(`${at(members[0]?.rest ?? 0)}/config`, { method: 'PATCH', body }).catch(() => null)
      await until(async () => (await set())?.ok, { what: 'Patroni takes the setting' })
      const state = isSynchronous ? 'sync' : 'async'
      const [here] = await until(() => query('select pg_current_wal_lsn() as lsn').catch(() => null), {
        what: 'the primary answers',
      })
      // Sent changes may still be in transit, so only replayed ones count.
      const following = `select from pg_stat_replication where state = 'streaming' and sync_state = '${state}'
        and application_name in ('one', 'two') and replay_lsn >= '${here?.lsn}'`
      await until(async () => (await query(following).catch(() => [])).length === 1, {
        what: `the standby follows ${mode}`,
      })
      // Patroni promotes only whom it has noted itself, which it does a moment after Postgres.
      const rolesNoted = async (): Promise<readonly string[]> => {
        const noted = await fetch(`${at(members[0]?.rest ?? 0)}/cluster`).catch(() => null)
        if (!noted?.ok) return []
        const { members: all } = (await noted.json()) as { readonly members: readonly { readonly role: string }[] }
        return all.map(({ role }) => role)
      }
      const isNoted = async () => {
        const noted = await rolesNoted()
        return noted.length === 2 && noted.includes('sync_standby') === isSynchronous
      }
      await until(isNoted, { what: `Patroni has noted that the standby follows ${mode}`, instead: rolesNoted })
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

async function ask(port: number, text: string): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({
    ...{ host: '127.0.0.1', port, user: 'postgres', password: PASSWORD, database: 'postgres' },
    connectionTimeoutMillis: 5_000,
  })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return (await client.query(text)).rows
  } finally {
    await client.end().catch(() => undefined)
  }
}

interface MemberOptions {
  readonly name: string
  readonly folder: string
  readonly etcd: number
  readonly stack: AsyncDisposableStack
}

async function startMember({ name, folder, etcd, stack }: MemberOptions): Promise<Member & { readonly rest: number }> {
  const [port, rest] = [await freePort(), await freePort()]
  // Others of the cluster reach it by this, and clients directly.
  const link = stack.use(await startLink(port))
  const data = join(folder, `data-${name}`)
  const config = join(folder, `${name}.yml`)
  await writeFile(config, configOf({ name, port, rest, etcd, data, link: link.port, folder }), { mode: 0o644 })
  stack.use(startProgram('patroni', [config], folder))
  const isPrimary = async () => {
    const [row] = await ask(port, 'select not pg_is_in_recovery() as yes').catch(() => [])
    return row?.yes === true
  }
  return {
    ...{ name, port, rest, isPrimary },
    async crash() {
      const [row] = await ask(port, "select pg_read_file('postmaster.pid') as file")
      process.kill(Number.parseInt(String(row?.file), 10), 'SIGKILL')
    },
    cutStandbys: () => link.cut(),
  }
}

interface Configured {
  readonly name: string
  readonly port: number
  readonly rest: number
  readonly etcd: number
  readonly link: number
  readonly data: string
  readonly folder: string
}

/** A crashed primary is replaced at once, instead of being started again; a former one that has gone another way is copied anew. */
const configOf = ({ name, port, rest, etcd, link, data, folder }: Configured): string => `
scope: phaseline
name: ${name}
restapi: { listen: '127.0.0.1:${rest}', connect_address: '127.0.0.1:${rest}' }
etcd3: { host: '127.0.0.1:${etcd}' }
bootstrap:
  dcs:
    ttl: 20
    loop_wait: 1
    retry_timeout: 3
    primary_start_timeout: 0
    master_start_timeout: 0
    maximum_lag_on_failover: 1073741824
    postgresql:
      use_pg_rewind: false
      parameters: { fsync: 'off', shared_buffers: 32MB, max_connections: 100, wal_keep_size: 256MB, log_min_messages: fatal }
  initdb: [{ encoding: UTF8 }, { locale: C }, no-sync]
postgresql:
  listen: '127.0.0.1:${port}'
  connect_address: '127.0.0.1:${link}'
  data_dir: '${data}'
  bin_dir: '${BIN}'
  pgpass: '${join(folder, `pgpass-${name}`)}'
  remove_data_directory_on_diverged_timelines: true
  remove_data_directory_on_rewind_failure: true
  basebackup: [{ checkpoint: fast }, no-sync]
  parameters: { unix_socket_directories: '' }
  authentication:
    superuser: { username: postgres, password: '${PASSWORD}' }
    replication: { username: replicator, password: '${PASSWORD}' }
  pg_hba: ['host all all 127.0.0.1/32 scram-sha-256', 'host replication replicator 127.0.0.1/32 scram-sha-256']
`

interface Link extends AsyncDisposable {
  readonly port: number
  cut(): Disposable
}

async function startLink(to: number): Promise<Link> {
  const open = new Set<Socket>()
  let isCut = false
  const server = createServer({ noDelay: true }, (client) => {
    client.on('error', () => undefined)
    if (isCut) return client.destroy()
    const postgres = dial(to, '127.0.0.1')
    open.add(client)
    client.pipe(postgres).pipe(client)
    postgres.on('error', () => client.destroy()).once('close', () => client.destroy())
    client.once('close', () => {
      open.delete(client)
      postgres.destroy()
    })
    return undefined
  })
  const port = await freePort()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    port,
    cut() {
      isCut = true
      for (const client of open) client.destroy()
      return {
        [Symbol.dispose]() {
          isCut = false
        },
      }
    },
    async [Symbol.asyncDispose]() {
      for (const client of open) client.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
