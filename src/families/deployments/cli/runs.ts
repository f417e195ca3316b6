import type { Command } from 'commander'
import type { Cli } from '../../../cli/cli.ts'
import { printList, readNodes } from '../../../cli/list.ts'
import { type AddressOptions, locate, withAddressOptions } from '../../../cli/objects/address.ts'
import { printFound, readOutput } from '../../../cli/objects/output-read.ts'
import { parseCount } from '../../../cli/options.ts'
import { type Session, type SessionOptions, withSession, withSessionOptions } from '../../../cli/session.ts'
import { EXIT, type ExitCode } from '../../../cli/terminal/exit.ts'
import { printLine } from '../../../cli/terminal/io.ts'
import { duration, since, words } from '../../../cli/terminal/text.ts'
import { FAILURE_FIELDS, failureText, invalid, notFoundRefusal } from '../../../client-model/index.ts'
import { gql } from '../../../documents/gql.ts'
import type { NodeOf, ResultOf } from '../../../documents/typed-document.ts'

const RUNS = gql(`query Runs($id: ID!, $first: Int!, $after: String) {
  object(id: $id) { __typename ... on Installation { runs(first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node { number jobId mode cause by generation startedAt endedAt durationMs phase error { ${FAILURE_FIELDS} } exports } }
  } } }
}`)
type Installation = Extract<NonNullable<ResultOf<typeof RUNS>['object']>, { readonly __typename: 'Installation' }>
type Run = NodeOf<Installation['runs']>

interface RunsOptions extends SessionOptions, AddressOptions {
  readonly limit: number
  readonly logs?: number
}

/** `phaseline runs NAME`: the jobs of a root installation, the newest first. */
export function addRuns(command: Command, cli: Cli): void {
  withSessionOptions(withAddressOptions(command))
    .argument('<name>', 'id, or path')
    .option('--limit <count>', 'list at most this many', parseCount, 20)
    .option(
      '--logs <run>',
      'print what the tree printed from the start of this run to the start of the next',
      parseCount,
    )
    .action(async (name: string, options: RunsOptions) => {
      cli.exitCode = await withSession(cli.io, options, (session) => runs(session, name, options))
    })
}

async function runs(session: Session, name: string, options: RunsOptions): Promise<ExitCode> {
  const located = await locate(session, name, options)
  if (!located.ok) return session.refuse(located.refusal)
  const { id, kind } = located.value
  if (kind !== 'INSTALLATION')
    return session.refuse(invalid(`${name} is no installation: only installations have runs.`))
  const { limit, logs } = options
  if (logs === undefined) return await printList(session, LIST, { id, limit })
  return await printLogs(session, id, await readNodes(session, LIST, { id }), logs)
}

/** Runs of a tree follow each other, and a last line may come after the end of its run. */
async function printLogs(session: Session, rootId: string, all: readonly Run[], number: number): Promise<ExitCode> {
  const index = all.findIndex((run) => run.number === number)
  const run = all[index]
  if (!run) return session.refuse(notFoundRefusal(`There is no run ${number}, or it is not kept any more.`))
  const next = all[index - 1]
  const filter = { rootId, since: run.startedAt, ...(next ? { until: next.startedAt } : {}) }
  let count = 0
  for await (const lines of readOutput(session, filter, null)) {
    for (const line of lines) printFound(session, line, true, false)
    count += lines.length
  }
  if (count === 0) printLine(session.io.stderr, `Run ${number} has printed nothing.`)
  return EXIT.ok
}

const LIST = {
  document: RUNS,
  select: ({ id }: { readonly id: string; readonly limit: number }) => ({ id }),
  page: ({ object }: ResultOf<typeof RUNS>) => object?.runs,
  key: 'runs',
  columns: {
    RUN: ({ number }: Run) => number,
    PHASE: ({ phase }: Run) => phase ?? 'running',
    WHY: ({ cause }: Run) => words(cause),
    BY: ({ by }: Run) => by ?? '-',
    SPEC: ({ generation }: Run) => generation,
    BEGAN: ({ startedAt }: Run) => startedAt,
    TOOK: ({ startedAt, durationMs }: Run) => (durationMs === null ? since(startedAt) : duration(durationMs)),
    ERROR: ({ error }: Run) => error && failureText(error),
  },
  none: 'It has had no job yet. A nested installation runs with its root.',
}
