import { type Command, InvalidArgumentError } from 'commander'
import type { Cli } from '../../../cli/cli.ts'
import { previewFiles } from '../../../cli/manifests/apply-documents.ts'
import { type ValueOptions, withValueOptions } from '../../../cli/manifests/given-values.ts'
import { type AddressOptions, type Located, locate, withAddressOptions } from '../../../cli/objects/address.ts'
import { describeDiff } from '../../../cli/objects/describe-diff.ts'
import { FILES_HELP, option, parseFiles, parsePlace, parseTime } from '../../../cli/options.ts'
import { type Session, type SessionOptions, withSession, withSessionOptions } from '../../../cli/session.ts'
import { EXIT, type ExitCode } from '../../../cli/terminal/exit.ts'
import { duration, words } from '../../../cli/terminal/text.ts'
import {
  CREATION,
  describeCreation,
  describeObjectChange,
  describeRun,
  describeTreeChange,
  FAILURE_FIELDS,
  invalid,
  markOfDifference,
  notFoundRefusal,
} from '../../../client-model/index.ts'
import { gql } from '../../../documents/gql.ts'
import type { ResultOf } from '../../../documents/typed-document.ts'

const DIFF = '{ truncated differences { path change before after } }'
const TREE_DIFF =
  gql(`query TreeDiff($rootId: ID!, $from: Sequence, $fromTime: DateTime, $to: Sequence, $toTime: DateTime) {
  treeDiff(rootId: $rootId, from: $from, fromTime: $fromTime, to: $to, toTime: $toTime) {
    rootId from to fromTime toTime objectCount ${CREATION}
    objects { change objectId kind name path before after }
    spec ${DIFF} exports ${DIFF}
  }
}`)
const PROJECT_CHANGES = gql(`query ProjectChanges($name: String!, $fromTime: DateTime!, $toTime: DateTime) {
  project(name: $name) {
    treeChanges(fromTime: $fromTime, toTime: $toTime) {
      fromTime toTime treeCount
      trees { rootId name changedAt addedCount removedCount changedCount failedCount root { kind phase } ${CREATION} }
    }
  }
}`)
const RUN = `number phase cause by generation startedAt durationMs error { ${FAILURE_FIELDS} }` as const
const COMPARE = gql(`query CompareRuns($id: ID!, $a: Int!, $b: Int!) {
  compareRuns(id: $id, a: $a, b: $b) {
    a { ${RUN} } b { ${RUN} } spec ${DIFF} exports ${DIFF}
    objects { objectId kind path phaseA phaseB durationMsA durationMsB }
  }
}`)
type Compared = NonNullable<ResultOf<typeof COMPARE>['compareRuns']>

interface DiffOptions extends SessionOptions, AddressOptions, ValueOptions {
  readonly since?: string
  readonly until?: string
  readonly from?: string | number
  readonly to?: string | number
  readonly runs?: readonly [number, number]
  readonly file?: readonly string[]
}

/** Options that say what is compared with what, beside runs and files. */
const PLACES = ['since', 'until', 'from', 'to'] as const

/** `phaseline diff`: what has changed in a tree, in all trees of a project, between two runs, or would change by a manifest. */
export function addDiff(command: Command, cli: Cli): void {
  withValueOptions(withSessionOptions(withAddressOptions(command)))
    .argument('[name]', 'id, or path, of the root of a tree; without it, all trees of --project')
    .option('--since <time>', 'since this time, or for so long, e.g. 24h', parseTime)
    .option('--until <time>', 'up to this time, or so long ago, instead of up to now', parseTime)
    .option('--from <place>', 'since this cursor or sequence of the log', parsePlace)
    .option('--to <place>', 'up to this cursor or sequence of the log', parsePlace)
    .addOption(
      option('--runs <a,b>', 'between these two runs of a root installation, e.g. 3,4', parseRuns).conflicts([
        ...PLACES,
      ]),
    )
    .addOption(
      option('-f, --file <file...>', `what apply would change: ${FILES_HELP}`, parseFiles).conflicts([
        ...PLACES,
        'runs',
      ]),
    )
    .action(async (name: string | undefined, options: DiffOptions) => {
      cli.exitCode = await withSession(cli.io, options, async (session) => {
        const { file, ...others } = options
        return file !== undefined && name === undefined
          ? await previewFiles(
              session,
              await cli.documentKinds(),
              { ...others, file },
              { isDiff: true, onTarget: false },
            )
          : await diff(session, name, options)
      })
    })
}

function parseRuns(text: string): readonly [number, number] {
  const [, a, b] = /^([1-9]\d{0,8}),([1-9]\d{0,8})$/.exec(text) ?? []
  if (a === undefined || b === undefined) throw new InvalidArgumentError('Expected the numbers of two runs: 3,4.')
  return [Number(a), Number(b)]
}

async function diff(session: Session, name: string | undefined, options: DiffOptions): Promise<ExitCode> {
  const { file, runs, project, set, values } = options
  if (set ?? values) return session.refuse(invalid('--set and --values are for the documents of -f FILE.'))
  if (name === undefined && file === undefined && project !== undefined)
    return await diffProject(session, project, options)
  if (name === undefined || file !== undefined)
    return session.refuse(invalid('Give the NAME of a root, --project NAME for all of its trees, or -f FILE.'))
  const located = await locate(session, name, options)
  if (!located.ok) return session.refuse(located.refusal)
  return runs ? await diffRuns(session, located.value, runs) : await diffTree(session, located.value, options)
}

async function diffProject(session: Session, name: string, options: DiffOptions): Promise<ExitCode> {
  const { since: fromTime, until: toTime, from, to, runs, kind } = options
  if ([from, to, runs, kind].some((given) => given !== undefined))
    return session.refuse(
      invalid(
        'The trees of a project are compared by --since and --until: give a NAME with --from, --to, --runs and --kind.',
      ),
    )
  if (fromTime === undefined) return session.refuse(invalid(`Say since when ${name} is compared: --since 24h.`))
  const variables = { name, fromTime, ...(toTime === undefined ? {} : { toTime }) }
  const { project } = await session.client.query(PROJECT_CHANGES, variables, { signal: session.io.signal })
  if (!project?.treeChanges) return session.refuse(notFoundRefusal(`There is no project ${name} that you may read.`))
  const { trees, treeCount } = project.treeChanges
  session.emit(project.treeChanges)
  if (treeCount === 0) session.say(`Nothing has changed in project ${name} ${spanOf(project.treeChanges, options)}.`)
  else session.note(`Changes ${spanOf(project.treeChanges, options)}:`)
  for (const tree of trees) session.say(describeTreeChange(tree, Date.now()))
  sayFurther(session, treeCount - trees.length)
  return EXIT.ok
}

/** Times as the server has understood them: those of a person are in the time zone of this machine, and may be of yesterday. */
const spanOf = (
  { fromTime, toTime }: { readonly fromTime: string; readonly toTime: string },
  { until, to }: DiffOptions,
): string => (until === undefined && to === undefined ? `since ${fromTime}` : `from ${fromTime} to ${toTime}`)

async function diffTree(session: Session, { root }: Located, options: DiffOptions): Promise<ExitCode> {
  const { since, until, from, to } = options
  if ((since === undefined) === (from === undefined)) {
    return session.refuse(invalid('Say since when: --since 24h, --from SEQUENCE, or --runs 3,4.'))
  }
  const variables = {
    rootId: root.id,
    ...(since === undefined ? { from } : { fromTime: since }),
    ...(until === undefined ? {} : { toTime: until }),
    ...(to === undefined ? {} : { to }),
  }
  const { treeDiff } = await session.client.query(TREE_DIFF, variables, { signal: session.io.signal })
  if (!treeDiff) return session.refuse(notFoundRefusal(`There is no tree ${root.name} in the log.`))
  session.emit(treeDiff)
  const { objects, objectCount, spec, exports, creation } = treeDiff
  const { paint } = session
  if (creation) {
    // Everything in it is new: nothing of it stands out.
    session.say(
      `${root.name} was ${describeCreation(creation, Date.now())}: there is nothing earlier to compare it with.`,
    )
    for (const { kind, path, after } of objects) session.say(`  ${path} (${words(kind)}) ${after}`)
    sayFurther(session, objectCount - objects.length)
    return EXIT.ok
  }
  if (objectCount === 0 && !spec?.differences.length && !exports?.differences.length) {
    session.say(`Nothing has changed in ${root.name} ${spanOf(treeDiff, options)}.`)
    return EXIT.ok
  }
  session.note(`Changes ${spanOf(treeDiff, options)}:`)
  const styles = { ADDED: 'green', REMOVED: 'red', CHANGED: 'yellow' } as const
  for (const { change, ...object } of objects)
    session.say(`${paint(styles[change], markOfDifference(change))} ${describeObjectChange(object)}`)
  sayFurther(session, objectCount - objects.length)
  sayPart(session, 'spec', spec)
  sayPart(session, 'exports', exports)
  return EXIT.ok
}

function sayFurther(session: Session, count: number): void {
  if (count > 0) session.say(`  and ${count} more`)
}

async function diffRuns(session: Session, { id, name }: Located, [a, b]: readonly [number, number]): Promise<ExitCode> {
  const { compareRuns } = await session.client.query(COMPARE, { id, a, b }, { signal: session.io.signal })
  if (!compareRuns)
    return session.refuse(notFoundRefusal(`${name} does not have both runs, ${a} and ${b}: see phaseline runs.`))
  session.emit(compareRuns)
  for (const run of [compareRuns.a, compareRuns.b]) session.say(describeRun(run))
  for (const one of compareRuns.objects) session.say(describeObject(one))
  if (compareRuns.spec) sayPart(session, 'spec', compareRuns.spec)
  else session.say('', 'One of the specs is not kept any more.')
  sayPart(session, 'exports', compareRuns.exports)
  return EXIT.ok
}

function describeObject({ kind, path, phaseA, phaseB, durationMsA, durationMsB }: Compared['objects'][number]): string {
  const part = (phase: string | null, ms: number | null) =>
    phase ? `${phase} in ${duration(ms ?? 0)}` : 'not part of it'
  return `~ ${path} (${words(kind)}) ${part(phaseA, durationMsA)} → ${part(phaseB, durationMsB)}`
}

function sayPart(session: Session, what: string, part: Compared['exports'] | null): void {
  if (part && part.differences.length > 0) session.say('', `${what}:`, ...describeDiff(part, session.paint))
}
