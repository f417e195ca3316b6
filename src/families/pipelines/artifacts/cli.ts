import { createWriteStream } from 'node:fs'
import { link, rename, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import type { Cli } from '../../../cli/cli.ts'
import type { Located } from '../../../cli/objects/address.ts'
import { locateKind, type ObjectArgument, onObject, type ProjectOption } from '../../../cli/objects/object-command.ts'
import { parseCount } from '../../../cli/options.ts'
import { type Session, type SessionOptions, withSession, withSessionOptions } from '../../../cli/session.ts'
import { EXIT, type ExitCode } from '../../../cli/terminal/exit.ts'
import { printBytes } from '../../../cli/terminal/io.ts'
import { duration } from '../../../cli/terminal/text.ts'
import { ClientError } from '../../../client/index.ts'
import {
  invalid,
  notFoundRefusal,
  outcomeOf,
  REFUSAL_FRAGMENT,
  readPages,
  sizeOf,
} from '../../../client-model/index.ts'
import { gql } from '../../../documents/gql.ts'
import type { NodeOf, ResultOf } from '../../../documents/typed-document.ts'

const EVENT: ObjectArgument = { kind: 'EVENT', name: 'event', help: 'id, event-17, or web/event-17' }

const ARTIFACTS = gql(`query EventArtifacts($id: ID!, $first: Int!, $after: String) { object(id: $id) {
  ... on Event { artifacts(first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node { id name size sha256 mediaType fileName createdAt expiresAt object { id kind name } } }
  } }
} }`)
type Artifact = NodeOf<Extract<ResultOf<typeof ARTIFACTS>['object'], { readonly artifacts?: unknown }>['artifacts']>

/** Enough for a screen; an event has more only in its thousandth job. */
const MOST = 16_000

/** `phaseline artifact list|get`: what workers and jobs have left. */
export function addArtifact(program: Command, cli: Cli): void {
  const artifact = program.command('artifact').description('artifacts: files and folders that workers and jobs leave')
  onObject<{ readonly limit: number }>(artifact.command('list'), cli, EVENT, list)
    .description('list the artifacts of an event')
    .option('--limit <count>', 'list at most this many', parseCount, 200)
  withSessionOptions(artifact.command('get'))
    .description('download an artifact of an event; its digest is verified')
    .argument('<event>', EVENT.help)
    .argument('<name>', 'name of the artifact')
    .option('--project <name>', 'project of the event (default: "default")')
    .option('--job <name>', 'the one that this job has left, or worker')
    .option('--output <file>', 'write to this file, or to standard output with - (otherwise under its own name, here)')
    .option('--force', 'replace a file that is there')
    .action(async (event: string, name: string, options: SessionOptions & GetOptions) => {
      cli.exitCode = await withSession(cli.io, options, async (session) => {
        const located = await locateKind(session, event, EVENT.kind, options)
        return located.ok ? await get(session, located.value, name, options) : session.refuse(located.refusal)
      })
    })
}

async function read(session: Session, { id }: Located, limit: number) {
  return await readPages(limit, async (first, after) => {
    const { object } = await session.client.query(ARTIFACTS, { id, first, after }, { signal: session.io.signal })
    return object?.artifacts ?? null
  })
}

async function list(session: Session, event: Located, { limit }: { readonly limit: number }): Promise<ExitCode> {
  const listed = await read(session, event, limit)
  if (!listed) return session.refuse(notFoundRefusal(`${event.name} is gone.`))
  session.emit({ totalCount: listed.totalCount, artifacts: listed.nodes })
  const head = ['NAME', 'LEFT BY', 'SIZE', 'AGE', 'EXPIRES', 'SHA-256']
  session.list({ head, rows: listed.nodes.map(rowOf), none: `${event.name} has no artifacts.`, listed })
  return EXIT.ok
}

function rowOf({ name, object, size, createdAt, expiresAt, sha256 }: Artifact): string[] {
  const now = Date.now()
  const age = duration(Math.max(0, now - Date.parse(createdAt)))
  const left = expiresAt === null ? 'with its event' : `in ${duration(Math.max(0, Date.parse(expiresAt) - now))}`
  return [name, object?.name ?? '', sizeOf(size), age, left, sha256]
}

interface GetOptions extends ProjectOption {
  readonly job?: string
  readonly output?: string
  readonly force?: boolean
}

async function get(session: Session, event: Located, name: string, options: GetOptions): Promise<ExitCode> {
  const { job, output, force = false } = options
  const all = (await read(session, event, MOST))?.nodes ?? []
  const named = all.filter((one) => one.name === name && (job === undefined || one.object?.name === job))
  const [artifact, other] = named
  if (!artifact) return session.refuse(notFoundRefusal(none(event, name, all)))
  if (other)
    return session.refuse(
      invalid(`${name} was left by ${named.map((one) => one.object?.name).join(', ')}: name one with --job.`),
    )
  const { client, io } = session
  const content = await client.readArtifact(artifact.id, { signal: io.signal })
  if (output === '-') {
    for await (const piece of content.body) printBytes(io.stdout, piece)
    return EXIT.ok
  }
  const file = resolve(output ?? artifact.fileName)
  const written = await write(content.body, file, force)
  if (!written)
    return session.refuse(invalid(`${file} is there already: name another file with --output, or use --force.`))
  session.emit({ file, size: artifact.size, sha256: artifact.sha256 })
  session.say(`${file} has the artifact ${name}: ${sizeOf(artifact.size)}, SHA-256 ${artifact.sha256}`)
  return EXIT.ok
}

function none({ name: event }: Located, name: string, all: readonly Artifact[]): string {
  const names = [...new Set(all.map((one) => one.name))]
  return `${event} has no artifact ${name} of that job${names.length === 0 ? ', and none at all' : `: it has ${names.join(', ')}`}.`
}

/** The file appears with all of its content, or not at all. False: there is one already. */
async function write(body: AsyncIterable<Uint8Array>, file: string, force: boolean): Promise<boolean> {
  const part = `${file}.${process.pid}.part`
  try {
    await pipeline(Readable.from(body), createWriteStream(part, { flags: 'wx' }))
    if (force) await rename(part, file)
    else await link(part, file)
    return true
  } catch (error) {
    if (error instanceof ClientError) throw error
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  } finally {
    await rm(part, { force: true })
  }
}

const CACHES = gql(`query ProjectCaches($project: String!, $first: Int!, $after: String) { project(name: $project) {
  caches(first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node { key size sha256 createdAt usedAt expiresAt } }
  }
} }`)
type Cache = NodeOf<NonNullable<ResultOf<typeof CACHES>['project']>['caches']>
const DELETE_CACHE = gql(`mutation DeleteCache($input: DeleteCacheInput!) {
  answer: deleteCache(input: $input) { __typename ... on DeletedCache { key } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)

/** `phaseline cache list|delete`: what workloads of a project find as earlier ones have left it. */
export function addCache(program: Command, cli: Cli): void {
  const cache = program
    .command('cache')
    .description('the cache of a project: files and folders that workloads keep for later ones')
  withSessionOptions(cache.command('list'))
    .description('list the entries of the cache of a project')
    .argument('<project>', 'name of the project')
    .option('--limit <count>', 'list at most this many', parseCount, 200)
    .action(async (project: string, options: SessionOptions & { readonly limit: number }) => {
      cli.exitCode = await withSession(cli.io, options, (session) => listCaches(session, project, options.limit))
    })
  withSessionOptions(cache.command('delete'))
    .description('delete an entry, so that the next workload with its key leaves another one')
    .argument('<project>', 'name of the project')
    .argument('<key>', 'key of the entry')
    .action(async (project: string, key: string, options: SessionOptions) => {
      cli.exitCode = await withSession(cli.io, options, (session) => deleteCache(session, project, key))
    })
}

async function listCaches(session: Session, project: string, limit: number): Promise<ExitCode> {
  const listed = await readPages(limit, async (first, after) => {
    const { client, io } = session
    const found = await client.query(CACHES, { project, first, after }, { signal: io.signal })
    return found.project?.caches ?? null
  })
  if (!listed) return session.refuse(notFoundRefusal(`There is no project ${project} that you may read.`))
  session.emit({ totalCount: listed.totalCount, caches: listed.nodes })
  const head = ['KEY', 'SIZE', 'AGE', 'USED', 'SHA-256']
  session.list({ head, rows: listed.nodes.map(cacheRowOf), none: `The cache of ${project} is empty.`, listed })
  return EXIT.ok
}

function cacheRowOf({ key, size, sha256, createdAt, usedAt }: Cache): string[] {
  const ago = (at: string): string => duration(Math.max(0, Date.now() - Date.parse(at)))
  return [key, sizeOf(size), ago(createdAt), `${ago(usedAt)} ago`, sha256]
}

async function deleteCache({ client, io, ...session }: Session, project: string, key: string): Promise<ExitCode> {
  const { answer } = await client.query(DELETE_CACHE, { input: { project, key } }, { signal: io.signal })
  const outcome = outcomeOf(answer)
  if (!outcome.ok) return session.refuse(outcome.refusal)
  session.emit({ deleted: key })
  session.say(`The cache of ${project} has no entry ${key} any more.`)
  return EXIT.ok
}
