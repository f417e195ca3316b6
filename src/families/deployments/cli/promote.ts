import type { Command } from 'commander'
import type { Cli } from '../../../cli/cli.ts'
import { readNodes } from '../../../cli/list.ts'
import { applyManifest, findInstallation, type PlacedManifest } from '../../../cli/manifests/apply-manifest.ts'
import { COMMIT_LABEL } from '../../../cli/manifests/commit-label.ts'
import { diffManifest, planManifest, readPlan } from '../../../cli/manifests/plan-manifest.ts'
import { locate } from '../../../cli/objects/address.ts'
import { follow } from '../../../cli/objects/follow.ts'
import { parseCount } from '../../../cli/options.ts'
import { type Session, type SessionOptions, withSession, withSessionOptions } from '../../../cli/session.ts'
import { ask } from '../../../cli/terminal/ask.ts'
import { EXIT, type ExitCode } from '../../../cli/terminal/exit.ts'
import { confirm } from '../../../cli/terminal/terminal-input.ts'
import {
  invalid,
  MANIFEST_FRAGMENT,
  notFoundRefusal,
  type Outcome,
  REFUSAL_FRAGMENT,
  refused,
} from '../../../client-model/index.ts'
import { gql } from '../../../documents/gql.ts'
import type { ResultOf } from '../../../documents/typed-document.ts'
import { parseManifests, writeManifest } from '../../../manifest/index.ts'

const SOURCE = gql(`query PromotedInstallation($id: ID!) {
  object(id: $id) { __typename ... on Installation {
    generation parent { id } specGenerations { generation spec }
    runs(first: 101) { edges { node { generation phase } } } ...Manifest
  } }
}\n${MANIFEST_FRAGMENT}`)
const DATA = gql(`query CarriedData($project: String!, $first: Int!, $after: String) {
  project(name: $project) { dataObjects(first: $first, after: $after) {
    pageInfo { hasNextPage endCursor } edges { node { name value } }
  } }
}`)
const SET = gql(`mutation CarryData($input: SetDataObjectInput!) {
  answer: setDataObject(input: $input) { __typename ...Refusal }
}\n${REFUSAL_FRAGMENT}`)
type Labels = readonly { readonly key: string; readonly value: string }[]
type Found = Extract<NonNullable<ResultOf<typeof SOURCE>['object']>, { readonly __typename: 'Installation' }>

/** Names the project and the generation that were promoted. */
const PROMOTED_LABEL = 'promoted-from'

interface SourceOptions extends SessionOptions {
  readonly project: string
  readonly generation?: number
}
interface PromoteOptions extends SourceOptions {
  readonly to: string
  readonly carry?: readonly string[]
  readonly dryRun?: boolean
  readonly wait?: boolean
  readonly yes?: boolean
}
interface CompareOptions extends SourceOptions {
  readonly with: string
}

/** `phaseline promote NAME`: one installation in two projects, which are environments. */
export function addPromote(command: Command, cli: Cli): void {
  withSessionOptions(command)
    .argument('<name>', 'its name, the same in both')
    .requiredOption('--project <name>', 'project where it has succeeded')
    .requiredOption('--to <name>', 'project that gets its spec')
    .option(
      '--generation <generation>',
      'an earlier spec that has succeeded (column SPEC of `phaseline runs`)',
      parseCount,
    )
    .option('--carry <name...>', 'data of the project that goes along, such as the exports of an earlier step')
    .option('--dry-run', 'show what would happen, in order, and do nothing')
    .option('--wait', 'follow the tree until it is finished')
    .option('-y, --yes', 'do not ask on a terminal')
    .action(async (name: string, options: PromoteOptions) => {
      cli.exitCode = await withSession(cli.io, options, (session) => promote(session, name, options))
    })
}

/** `phaseline compare NAME`: how its specs differ. */
export function addCompare(command: Command, cli: Cli): void {
  withSessionOptions(command)
    .argument('<name>', 'its name, the same in both')
    .requiredOption('--project <name>', 'project of the spec that counts as the newer')
    .requiredOption('--with <name>', 'project of the other')
    .option('--generation <generation>', 'an earlier spec of the first', parseCount)
    .action(async (name: string, options: CompareOptions) => {
      cli.exitCode = await withSession(cli.io, options, (session) => compare(session, name, options))
    })
}

async function compare(session: Session, name: string, options: CompareOptions): Promise<ExitCode> {
  const source = await readSource(session, name, options)
  if (!source.ok) return session.refuse(source.refusal)
  const wanted = manifestOf(source.value, options.with)
  const other = await findInstallation(session, wanted)
  if (!other) return session.refuse(notFoundRefusal(`There is no installation ${name} in project ${options.with}.`))
  const shown = await diffManifest(session, wanted)
  return shown.ok ? shown.value.code : session.refuse(shown.refusal)
}

async function promote(session: Session, name: string, options: PromoteOptions): Promise<ExitCode> {
  const { project, to, carry = [] } = options
  const source = await readSource(session, name, options)
  if (!source.ok) return session.refuse(source.refusal)
  const { generation, found } = source.value
  if (!found.runs.edges.some(({ node }) => node.generation === generation && node.phase === 'SUCCEEDED'))
    return session.refuse(
      invalid(`Spec ${generation} of ${project}/${name} has not succeeded: choose one with --generation.`),
    )
  const data = await readData(session, project, carry)
  if (!data.ok) return session.refuse(data.refusal)
  const existing = await findInstallation(session, { name: found.name, project: to })
  const manifest = manifestOf(source.value, to, existing?.labels)
  const asks = options.yes !== true && session.io.stdin.isTTY === true
  if (options.dryRun || asks) {
    const shown =
      existing && !options.dryRun ? await diffManifest(session, manifest) : await planManifest(session, manifest, false)
    if (!shown.ok) return session.refuse(shown.refusal)
    if (options.dryRun) return shown.value.code
    if (!(await confirm(session.io, `Promote spec ${generation} of ${project}/${name} to ${to}?`))) {
      session.say('Nothing was promoted.')
      return EXIT.interrupted
    }
  } else {
    // Nothing is written when the spec is refused.
    const { outcome } = await readPlan(session, manifest)
    if (!outcome.ok) return session.refuse(outcome.refusal)
  }
  // Before the spec, which may need it.
  for (const input of data.value) {
    const set = await ask(session, SET, { project: to, ...input })
    if (!set.ok) return session.refuse(set.refusal)
    session.say(`${to}/${input.name} set`)
  }
  const applied = await applyManifest(session, manifest, { reconcile: true })
  if (!applied.ok) return session.refuse(applied.refusal)
  const { runsAgain: _, ...written } = applied.value
  const { action, id } = written
  session.emit({ ...written, promoted: { project, generation } })
  session.say(`${to}/${name} ${action} (generation ${written.generation}) from spec ${generation} of ${project}`)
  return options.wait ? await follow(session, id, ({ outcome }) => outcome === 'succeeded') : EXIT.ok
}

interface Source {
  readonly found: Found
  readonly generation: number
  readonly spec: unknown
}

async function readSource(session: Session, name: string, options: SourceOptions): Promise<Outcome<Source>> {
  const { project, generation } = options
  const located = await locate(session, name, { project, kind: 'INSTALLATION' })
  if (!located.ok) return located
  const { object } = await session.client.query(SOURCE, { id: located.value.id }, { signal: session.io.signal })
  if (object?.__typename !== 'Installation' || object.parent)
    return refused(invalid(`${name} is a part of a tree, which is promoted as a whole: name its root.`))
  if (generation === undefined || generation === object.generation)
    return { ok: true, value: { found: object, generation: object.generation, spec: object.spec } }
  const kept = object.specGenerations.find((one) => one.generation === generation)
  return kept
    ? { ok: true, value: { found: object, generation, spec: kept.spec } }
    : refused(notFoundRefusal(`Spec ${generation} of ${project}/${name} is not kept: see phaseline runs ${name}.`))
}

/** The source as a manifest of the other project, whose own labels stay. Each of the two is ignored, or not, for itself. */
function manifestOf({ found, generation, spec }: Source, to: string, own: Labels = []): PlacedManifest {
  const { name, project, labels, description } = found
  const parsed = parseManifests(writeManifest({ name, project: to, labels: [], description, ignored: false, spec }))
  if (!parsed.ok) throw new Error(parsed.problems.map(({ message }) => message).join(' '))
  const [manifest] = parsed.manifests
  if (!manifest) throw new Error('A manifest was written, and none was read.')
  const carried = labels.filter(({ key }) => key !== COMMIT_LABEL && key !== PROMOTED_LABEL)
  const pairs = [...own, ...carried].map(({ key, value }) => [key, value] as const)
  const promoted = { ...Object.fromEntries(pairs), [PROMOTED_LABEL]: `${project.name}@${generation}` }
  return { ...manifest, project: to, labels: promoted }
}

async function readData(session: Session, project: string, names: readonly string[]) {
  if (names.length === 0) return { ok: true, value: [] } as const
  const pages = { document: DATA, page: (found: ResultOf<typeof DATA>) => found.project?.dataObjects }
  const value = (await readNodes(session, pages, { project })).filter(({ name }) => names.includes(name))
  const missing = names.find((name) => !value.some((one) => one.name === name))
  return missing === undefined
    ? ({ ok: true, value } as const)
    : refused(notFoundRefusal(`There is no data ${missing} in project ${project}.`))
}
