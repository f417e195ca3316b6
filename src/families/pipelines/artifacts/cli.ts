import { createWriteStream } from 'node:fs'
import { link, rename, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import type { Cli } from '../../../cli/cli.ts'
import { withCompletion } from '../../../cli/completed.ts'
import { addList, printList, readNodes } from '../../../cli/list.ts'
import type { Located } from '../../../cli/objects/address.ts'
import { locateKind, type ObjectArgument, onObject, type ProjectOption } from '../../../cli/objects/object-command.ts'
import { parseCount, withYes } from '../../../cli/options.ts'
import { type Session, type SessionOptions, withSession, withSessionOptions } from '../../../cli/session.ts'
import { EXIT, type ExitCode } from '../../../cli/terminal/exit.ts'
import { printBytes } from '../../../cli/terminal/io.ts'
import { type Confirmable, onceConfirmed } from '../../../cli/terminal/terminal-input.ts'
import { duration, since } from '../../../cli/terminal/text.ts'
import { ClientError } from '../../../client/client-error.ts'
import { invalid, notFoundRefusal, outcomeOf, REFUSAL_FRAGMENT, sizeOf } from '../../../client-model/index.ts'
import { gql } from '../../../documents/gql.ts'
import type { NodeOf, ResultOf } from '../../../documents/typed-document.ts'

const EVENT: ObjectArgument = { kind: 'EVENT', name: 'event', help: 'id, event-17, or web/event-17' }

const ARTIFACTS = gql(`query EventArtifacts($id: ID!, $name: String, $first: Int!, $after: String) { object(id: $id) {
  ... on Event { artifacts(name: $name, first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node { id name size sha256 mediaType fileName createdAt expiresAt object { id kind name } } }
  } }
} }`)
type Artifact = NodeOf<Extract<ResultOf<typeof ARTIFACTS>['object'], { readonly artifacts?: unknown }>['artifacts']>

/** Enough for a screen; an event has more only in its thousandth job. */
const MOST = 16_000

/** `phaseline artifact list|get`: what workers and jobs have left. */
export function addArtifact(artifact: Command, cli: Cli): void {
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

const PAGES = { document: ARTIFACTS, page: ({ object }: ResultOf<typeof ARTIFACTS>) => object?.artifacts }

const list = (session: Session, { id, name: event }: Located, options: { readonly limit: number }): Promise<ExitCode> =>
  printList(
    session,
    {
      ...PAGES,
      select: () => ({ id }),
      key: 'artifacts',
      columns: {
        NAME: ({ name }) => name,
        'LEFT BY': ({ object }) => object?.name,
        SIZE: ({ size }) => sizeOf(size),
        AGE: ({ createdAt }) => since(createdAt),
        EXPIRES: ({ expiresAt }) =>
          expiresAt === null ? 'with its event' : `in ${duration(Date.parse(expiresAt) - Date.now())}`,
        'SHA-256': ({ sha256 }) => sha256,
      },
      none: `${event} has no artifacts.`,
      missing: `${event} is gone.`,
    },
    options,
  )

interface GetOptions extends ProjectOption {
  readonly job?: string
  readonly output?: string
  readonly force?: boolean
}

async function get(session: Session, event: Located, name: string, options: GetOptions): Promise<ExitCode> {
  const { job, output, force = false } = options
  const read = (wanted: string | null) => readNodes(session, PAGES, { id: event.id, name: wanted }, MOST)
  const named = await read(name)
  const artifact = named.find(({ object }) => job === undefined || object?.name === job)
  if (!artifact) return session.refuse(notFoundRefusal(none(event, name, await read(null))))
  if (job === undefined && named.length > 1)
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
const DELETE_CACHE = gql(`mutation DeleteCache($input: DeleteCacheInput!) {
  answer: deleteCache(input: $input) { __typename ... on DeletedCache { key } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)

/** `phaseline cache list|delete`: what workloads of a project find as earlier ones have left it. */
export function addCache(cache: Command, cli: Cli): void {
  addList(withCompletion(cache.command('list'), 'project').argument('<project>', 'name of the project'), cli, {
    document: CACHES,
    select: (_, project) => ({ project }),
    page: ({ project }) => project?.caches,
    key: 'caches',
    limit: 200,
    columns: {
      KEY: ({ key }) => key,
      SIZE: ({ size }) => sizeOf(size),
      AGE: ({ createdAt }) => since(createdAt),
      USED: ({ usedAt }) => `${since(usedAt)} ago`,
      'SHA-256': ({ sha256 }) => sha256,
    },
    none: (_, project) => `The cache of ${project} is empty.`,
    missing: (_, project) => `There is no project ${project} that you may read.`,
  }).description('list the entries of the cache of a project')
  withYes(withCompletion(withSessionOptions(cache.command('delete')), 'project'))
    .description('delete an entry, so that the next workload with its key leaves another one')
    .argument('<project>', 'name of the project')
    .argument('<key>', 'key of the entry')
    .action(async (project: string, key: string, options: SessionOptions & Confirmable) => {
      cli.exitCode = await withSession(cli.io, options, (session) =>
        onceConfirmed(cli.io, options, `Delete ${key} from the cache of ${project}?`, () =>
          deleteCache(session, project, key),
        ),
      )
    })
}

async function deleteCache({ client, io, ...session }: Session, project: string, key: string): Promise<ExitCode> {
  const { answer } = await client.query(DELETE_CACHE, { input: { project, key } }, { signal: io.signal })
  const outcome = outcomeOf(answer)
  if (!outcome.ok) return session.refuse(outcome.refusal)
  session.emit({ deleted: key })
  session.say(`The cache of ${project} has no entry ${key} any more.`)
  return EXIT.ok
}
