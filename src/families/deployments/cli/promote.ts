import { type Command, Option } from 'commander'
import type { Cli } from '../../../cli/cli.ts'
import { ofProject, withCompletion } from '../../../cli/completed.ts'
import { applyManifest, findInstallation, type PlacedManifest } from '../../../cli/manifests/apply-manifest.ts'
import { COMMIT_LABEL } from '../../../cli/manifests/commit-label.ts'
import { GivenValues, type ValueOptions, withValueOptions } from '../../../cli/manifests/given-values.ts'
import { diffManifest, planManifest } from '../../../cli/manifests/plan-manifest.ts'
import { locate } from '../../../cli/objects/address.ts'
import { follow } from '../../../cli/objects/follow.ts'
import { parseCount } from '../../../cli/options.ts'
import { type Session, type SessionOptions, withSession, withSessionOptions } from '../../../cli/session.ts'
import { EXIT, type ExitCode } from '../../../cli/terminal/exit.ts'
import { confirm } from '../../../cli/terminal/terminal-input.ts'
import { shorten } from '../../../cli/terminal/text.ts'
import {
  invalid,
  MANIFEST_FRAGMENT,
  notFoundRefusal,
  type Outcome,
  type Refusal,
  refused,
} from '../../../client-model/index.ts'
import { sameJson } from '../../../core/json.ts'
import { similarTo } from '../../../core/similar.ts'
import { gql } from '../../../documents/gql.ts'
import type { ResultOf } from '../../../documents/typed-document.ts'
import { parseManifests, writeManifest } from '../../../manifest/index.ts'

const SOURCE = gql(`query PromotedInstallation($id: ID!) {
  object(id: $id) { __typename ... on Installation {
    generation parent { id } project { promotesTo } specGenerations { generation spec } imports
    runs(first: 101) { edges { node { generation phase } } } ...Manifest
  } }
}\n${MANIFEST_FRAGMENT}`)
const TARGET = gql(`query PromotionTarget($project: String!, $path: [String!]!) {
  objectByPath(project: $project, kind: INSTALLATION, path: $path) { ... on Installation { labels { key value } spec } }
}`)
type Labels = readonly { readonly key: string; readonly value: string }[]
type Found = Extract<NonNullable<ResultOf<typeof SOURCE>['object']>, { readonly __typename: 'Installation' }>

/** Names the project and the generation that were promoted. */
const PROMOTED_LABEL = 'promoted-from'

interface SourceOptions extends SessionOptions {
  readonly project?: string
  readonly generation?: number
}
interface PromoteOptions extends SourceOptions, ValueOptions {
  readonly to?: string
  readonly carry?: readonly string[]
  readonly dryRun?: boolean
  readonly wait?: boolean
  readonly yes?: boolean
}
interface CompareOptions extends SourceOptions {
  readonly with?: string
}

/** `phaseline promote NAME`: one installation in two projects, which are environments. */
export function addPromote(command: Command, cli: Cli): void {
  withValueOptions(withSessionOptions(withCompletion(command, 'object')))
    .argument('<name>', 'its name, the same in both')
    .option('--project <name>', 'project where it has succeeded (default: "default")')
    .addOption(
      ofProject(
        new Option('--to <name>', 'project that gets its spec (default: the one that `promotesTo` of the first names)'),
      ),
    )
    .option(
      '--generation <generation>',
      'an earlier spec that has succeeded (column SPEC of `phaseline runs`)',
      parseCount,
    )
    .option('--carry <name...>', 'imports whose values go along, such as the image that an earlier step has exported')
    .option('--dry-run', 'show what would happen, in order, and do nothing')
    .option('--wait', 'follow the tree until it is finished')
    .option('-y, --yes', 'do not ask on a terminal')
    .action(async (name: string, options: PromoteOptions) => {
      cli.exitCode = await withSession(cli.io, options, (session) => promote(session, name, options))
    })
}

/** `phaseline compare NAME`: how its specs differ. */
export function addCompare(command: Command, cli: Cli): void {
  withSessionOptions(withCompletion(command, 'object'))
    .argument('<name>', 'its name, the same in both')
    .option('--project <name>', 'project of the spec that counts as the newer (default: "default")')
    .addOption(
      ofProject(
        new Option('--with <name>', 'project of the other (default: the one that `promotesTo` of the first names)'),
      ),
    )
    .option('--generation <generation>', 'an earlier spec of the first', parseCount)
    .action(async (name: string, options: CompareOptions) => {
      cli.exitCode = await withSession(cli.io, options, (session) => compare(session, name, options))
    })
}

async function compare(session: Session, name: string, options: CompareOptions): Promise<ExitCode> {
  const source = await readSource(session, name, options)
  if (!source.ok) return session.refuse(source.refusal)
  const { found, spec } = source.value
  const other = options.with ?? found.project.promotesTo
  if (other === null) return session.refuse(invalid(noNext(found.project.name, '--with')))
  if (await findInstallation(session, { name: found.name, project: other })) {
    const shown = await diffManifest(session, manifestOf(source.value, spec, other))
    return shown.ok ? shown.value.code : session.refuse(shown.refusal)
  }
  session.note(
    `There is no ${found.name} in ${other} yet to compare with: \`phaseline promote\` creates it, as follows.`,
  )
  const prepared = await prepare(session, source.value, other, {})
  if (!prepared.ok) return session.refuse(prepared.refusal)
  const planned = await planManifest(session, prepared.value, false)
  return planned.ok ? planned.value.code : session.refuse(planned.refusal)
}

const noNext = (project: string, option: string): string =>
  `Project ${project} does not say where it promotes to: give ${option}, or set \`promotesTo\` in its document.`

async function promote(session: Session, name: string, options: PromoteOptions): Promise<ExitCode> {
  const source = await readSource(session, name, options)
  if (!source.ok) return session.refuse(source.refusal)
  const { generation, found } = source.value
  const { name: project, promotesTo } = found.project
  const to = options.to ?? promotesTo
  if (to === null) return session.refuse(invalid(noNext(project, '--to')))
  if (!found.runs.edges.some(({ node }) => node.generation === generation && node.phase === 'SUCCEEDED'))
    return session.refuse(
      invalid(`Spec ${generation} of ${project}/${name} has not succeeded: choose one with --generation.`),
    )
  const prepared = await prepare(session, source.value, to, options)
  if (!prepared.ok) return session.refuse(prepared.refusal)
  const manifest = prepared.value
  const isOutOfOrder = promotesTo !== null && to !== promotesTo
  if (isOutOfOrder) session.note(`Project ${project} promotes to ${promotesTo}, not to ${to}.`)
  const asks = options.yes !== true && session.io.stdin.isTTY === true
  if (options.dryRun || asks) {
    const existing = await findInstallation(session, manifest)
    const shown =
      existing && !options.dryRun ? await diffManifest(session, manifest) : await planManifest(session, manifest, false)
    if (!shown.ok) return session.refuse(shown.refusal)
    if (options.dryRun) return shown.value.code
    if (!(await confirm(session.io, `Promote spec ${generation} of ${project}/${name} to ${to}?`))) {
      session.say('Nothing was promoted.')
      return EXIT.interrupted
    }
  } else if (isOutOfOrder && !options.yes)
    return session.refuse(invalid(`Give --yes to promote to ${to} all the same.`))
  const applied = await applyManifest(session, manifest, { reconcile: true })
  if (!applied.ok) return session.refuse(applied.refusal)
  const { runsAgain: _, ...written } = applied.value
  const { action, id } = written
  session.emit({ ...written, promoted: { project, generation } })
  session.say(`${to}/${found.name} ${action} (generation ${written.generation}) from spec ${generation} of ${project}`)
  return options.wait ? await follow(session, id, ({ outcome }) => outcome === 'succeeded') : EXIT.ok
}

/** The manifest for the other project: the spec of the source with the values that its imports have there. */
async function prepare(
  session: Session,
  source: Source,
  to: string,
  { carry = [], ...options }: PromoteOptions,
): Promise<Outcome<PlacedManifest>> {
  const { found, spec } = source
  const used = usedValues(source)
  const refusal = refuseCarry(source, carry, used)
  if (refusal) return refused(refusal)
  const where = { project: to, path: [found.name] }
  const { objectByPath } = await session.client.query(TARGET, where, { signal: session.io.signal })
  const own = ownValues(objectByPath?.spec)
  const imports = importsOf(spec).map(({ value: _, ...one }) => {
    const value = (carry.includes(one.name) ? used : own).get(one.name)
    return value === undefined ? one : { ...one, value }
  })
  const given = await GivenValues.read(session.io, options)
  if (!given.ok) return given
  const manifest = manifestOf(source, { ...(spec as object), imports }, to, objectByPath?.labels)
  const filled = given.value.giveTo(manifest)
  if (!filled.ok) return refused(invalid('The values are not valid.', filled.problems))
  const others = given.value.refuseOthers()
  if (others) return refused(others)
  for (const { name, value } of filled.value.spec.imports ?? []) {
    const note = noteOf(name, value, { source, used, own, to })
    if (note !== null) session.note(`${note}: --carry ${name} brings it along.`)
  }
  return { ok: true, value: { ...filled.value, project: to } }
}

interface Compared {
  readonly source: Source
  readonly used: ReadonlyMap<string, unknown>
  /** Values that imports have in the target. */
  readonly own: ReadonlyMap<string, unknown>
  readonly to: string
}

/** The difference between the value that an import will have and that of the source; null: none that the options do not explain. */
function noteOf(name: string, value: unknown, { source, used, own, to }: Compared): string | null {
  if (!used.has(name)) return null
  const there = `is ${shown(used.get(name))} in ${source.found.project.name}`
  if (value === undefined)
    return ownValues(source.spec).has(name) ? `${name} ${there}, and has no value of its own in ${to}` : null
  const isKept = own.has(name) && sameJson(value, own.get(name))
  return isKept && !sameJson(value, used.get(name)) ? `${name} stays ${shown(value)} in ${to}, and ${there}` : null
}

/** Columns of a value in a sentence. */
const SHOWN = 60
const shown = (value: unknown): string => shorten(JSON.stringify(value), SHOWN)

type Import = { readonly name: string; readonly value?: unknown }
const importsOf = (spec: unknown): readonly Import[] =>
  (spec as { readonly imports: readonly Import[] } | null | undefined)?.imports ?? []
const ownValues = (spec: unknown): ReadonlyMap<string, unknown> =>
  new Map(importsOf(spec).flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])))

/** The last run has succeeded with the spec, so the values that it has read are proven. */
const isProven = ({ found, generation }: Source): boolean => {
  const last = found.runs.edges[0]?.node
  return last?.generation === generation && last.phase === 'SUCCEEDED'
}

/** The values that imports have in the spec, and those that the last run has read. */
const usedValues = (source: Source): ReadonlyMap<string, unknown> =>
  new Map([
    ...(isProven(source) ? Object.entries((source.found.imports ?? {}) as object) : []),
    ...ownValues(source.spec),
  ])

function refuseCarry(source: Source, names: readonly string[], used: ReadonlyMap<string, unknown>): Refusal | null {
  const { found, generation, spec } = source
  const where = `${found.project.name}/${found.name}`
  const imports = importsOf(spec).map(({ name }) => name)
  const unknown = names.find((name) => !imports.includes(name))
  if (unknown !== undefined) {
    const similar = similarTo(unknown, imports)
    const hint = similar.length > 0 ? ` Did you mean ${similar.join(', or ')}?` : ''
    return invalid(`${where} has no import ${unknown}.${hint}`)
  }
  const missing = names.find((name) => !used.has(name))
  if (missing === undefined) return null
  const why = isProven(source) ? 'has used none' : `has not succeeded with spec ${generation}`
  return notFoundRefusal(
    `There is no value of ${missing} to carry: the last run of ${where} ${why}. Give one with --set ${missing}=VALUE.`,
  )
}

interface Source {
  readonly found: Found
  readonly generation: number
  readonly spec: unknown
}

async function readSource(session: Session, name: string, options: SourceOptions): Promise<Outcome<Source>> {
  const { project, generation } = options
  const located = await locate(session, name, { ...(project !== undefined && { project }), kind: 'INSTALLATION' })
  if (!located.ok) return located
  const { object } = await session.client.query(SOURCE, { id: located.value.id }, { signal: session.io.signal })
  if (object?.__typename !== 'Installation' || object.parent)
    return refused(invalid(`${name} is a part of a tree, which is promoted as a whole: name its root.`))
  if (generation === undefined || generation === object.generation)
    return { ok: true, value: { found: object, generation: object.generation, spec: object.spec } }
  const kept = object.specGenerations.find((one) => one.generation === generation)
  return kept
    ? { ok: true, value: { found: object, generation, spec: kept.spec } }
    : refused(
        notFoundRefusal(
          `Spec ${generation} of ${object.project.name}/${object.name} is not kept: see phaseline runs ${name}.`,
        ),
      )
}

/** The source as a manifest of the other project, whose own labels stay. Each of the two is ignored, or not, for itself. */
function manifestOf({ found, generation }: Source, spec: unknown, to: string, own: Labels = []): PlacedManifest {
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
