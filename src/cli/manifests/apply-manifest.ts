import { type Outcome, outcomeOf, REFUSAL_FRAGMENT } from '../../client-model/index.ts'
import { sameJson } from '../../core/json.ts'
import { gql } from '../../documents/gql.ts'
import type { ResultOf } from '../../documents/typed-document.ts'
import { installationInput, type Manifest } from '../../manifest/index.ts'
import type { Session } from '../session.ts'
import { ask } from '../terminal/ask.ts'
import { type Action, type ApplyHow, untilWon } from './appliable.ts'
import { labelsBy, withoutCommit } from './commit-label.ts'

/** A manifest with its project. */
export type PlacedManifest = Manifest & { readonly project: string }

interface Applied {
  readonly id: string
  readonly name: string
  readonly project: string
  readonly phase: string
  readonly generation: number
  readonly action: Action
  readonly overwritten?: Overwritten
}

/** Parts of an installation whose edit makes no generation. */
const SETTINGS = 'fragment Settings on Installation { labels { key value } description ignored }'

const FIND = gql(`query FindInstallation($project: String!, $path: [String!]!) {
  objectByPath(project: $project, kind: INSTALLATION, path: $path) {
    id phase phaseClass jobId finishedJobId generation observedGeneration deletionRequestedAt ...Settings
  }
}\n${SETTINGS}`)
const CREATE = gql(`mutation Create($input: CreateInstallationInput!) {
  answer: createInstallation(input: $input) { __typename ... on Installation { id phase generation } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)
const UPDATE = gql(`mutation Update($input: UpdateInstallationInput!) {
  answer: updateInstallation(input: $input) {
    __typename
    ... on Installation { id phase generation specGenerations { generation replacedAt replacedBy } ...Settings }
    ...Refusal
  }
}\n${SETTINGS}\n${REFUSAL_FRAGMENT}`)

/** The same comparison as that of an update, which the server makes without writing. */
const COMPARE = gql(`query CompareSpec($input: PlanInstallationInput!) {
  planInstallation(input: $input) { __typename ... on InstallationPlan { spec { differences { path } } } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)

/** An installation before an update. */
type Found = Extract<NonNullable<ResultOf<typeof FIND>['objectByPath']>, { readonly labels: object }>
export type Before = Pick<Found, 'id' | 'generation' | 'labels' | 'description' | 'ignored'>
interface EarlierSpec {
  readonly generation: number
  readonly replacedAt: string
  readonly replacedBy: string
}
type WriteAnswer = Pick<Applied, 'id' | 'phase' | 'generation' | 'overwritten'>

/** Changes that others have made to the spec since the caller wrote it last, and that an update has replaced. */
export interface Overwritten {
  readonly by: readonly string[]
  /** The times of the first and the last of them. */
  readonly since: string
  readonly until: string
}

/** Creates the installation, or updates the existing one; tries again when another client was faster. */
export async function applyManifest(
  session: Session,
  manifest: PlacedManifest,
  { reconcile, ifDifferent }: ApplyHow,
): Promise<Outcome<Applied & { readonly runsAgain: boolean }>> {
  let isWritten = true
  const outcome = await untilWon<Found, WriteAnswer & Pick<Applied, 'action'>>(
    () => findInstallation(session, manifest),
    async (existing) => {
      // An update begins a job, even one that changes nothing.
      const isCompared = existing && (ifDifferent || (reconcile && isAsDescribed(existing)))
      isWritten = !isCompared || (await differs(session, existing, manifest, ifDifferent && withoutCommit))
      if (existing && !isWritten) return { ok: true, value: writtenOf(existing, 'unchanged') }
      const labels = ifDifferent && labelsBy(ifDifferent.commit, manifest.labels, labelsOf(existing?.labels ?? []))
      const wanted = labels ? { ...manifest, labels } : manifest
      return existing
        ? await updateInstallation(session, existing, wanted, reconcile)
        : await createInstallation(session, wanted, reconcile)
    },
  )
  if (!outcome.ok) return outcome
  const { name, project } = manifest
  const runsAgain = isWritten && reconcile && outcome.value.action === 'unchanged'
  return { ok: true, value: { ...outcome.value, name, project, runsAgain } }
}

/** Its spec has been deployed, or is at the moment. After a failure it is to be deployed again. */
function isAsDescribed(found: Found): boolean {
  const { jobId, finishedJobId, phaseClass, generation, observedGeneration, deletionRequestedAt } = found
  if (deletionRequestedAt !== null) return false
  const isObserved = observedGeneration === generation
  if (jobId === finishedJobId) return isObserved && phaseClass === 'DONE'
  // A job that waits takes the newest spec in.
  return isObserved || phaseClass === 'WAITING'
}

const labelsOf = (labels: Before['labels']) => Object.fromEntries(labels.map(({ key, value }) => [key, value]))

/**
 * True as well for what the server would refuse.
 * @param seen what counts of the settings
 */
export async function differs(
  { client, io }: Session,
  found: Before,
  manifest: PlacedManifest,
  seen: (settings: object) => object = (all) => all,
): Promise<boolean> {
  if (!hasSettings(found, manifest, seen)) return true
  const input = { update: { id: found.id, spec: manifest.spec } }
  const { planInstallation } = await client.query(COMPARE, { input }, { signal: io.signal })
  const compared = outcomeOf(planInstallation)
  return !compared.ok || compared.value.spec?.differences.length !== 0
}

function hasSettings(found: Before, manifest: PlacedManifest, seen: (settings: object) => object = (all) => all) {
  const before = { labels: labelsOf(found.labels), description: found.description ?? '', ignored: found.ignored }
  const { labels = before.labels, description = before.description, ignored = before.ignored } = manifest
  return sameJson(seen(before), seen({ labels, description, ignored }))
}

/** Applying it would write nothing and begin no job. @param differences those of its spec */
export const staysAsItIs = (found: Found, manifest: PlacedManifest, differences: number): boolean =>
  isAsDescribed(found) && differences === 0 && hasSettings(found, manifest)

type WriteOutcome = Outcome<WriteAnswer & Pick<Applied, 'action'>>

/** Makes the installation as its manifest says; refused when it is not of this generation any more. */
export async function updateInstallation(
  session: Session,
  before: Before,
  manifest: PlacedManifest,
  reconcile: boolean,
): Promise<WriteOutcome> {
  const { id, generation } = before
  const input = { id, expectedGeneration: generation, reconcile, ...installationInput(manifest) }
  const updated = await ask(session, UPDATE, input)
  if (!updated.ok) return updated
  const { value } = updated
  const isSame = value.generation === generation && sameJson(settingsOf(value), settingsOf(before))
  const overwritten = overwrittenBy(generation, value.specGenerations)
  return {
    ok: true,
    value: { ...writtenOf(value, isSame ? 'unchanged' : 'updated'), ...(overwritten && { overwritten }) },
  }
}

/** @param earlier the newest first: each says who wrote the next one */
function overwrittenBy(generation: number, earlier: readonly EarlierSpec[]): Overwritten | null {
  const [own, ...before] = earlier
  if (own?.generation !== generation) return null
  const last = before.findIndex(({ replacedBy }) => replacedBy === own.replacedBy)
  const others = last < 0 ? before : before.slice(0, last)
  const [newest, oldest] = [others[0], others.at(-1)]
  if (!newest || !oldest) return null
  const by = [...new Set(others.map(({ replacedBy }) => replacedBy))]
  return { by, since: oldest.replacedAt, until: newest.replacedAt }
}

async function createInstallation(
  session: Session,
  manifest: PlacedManifest,
  reconcile: boolean,
): Promise<WriteOutcome> {
  const { name, project } = manifest
  const created = await ask(session, CREATE, { name, project, reconcile, ...installationInput(manifest) })
  return created.ok ? { ok: true, value: writtenOf(created.value, 'created') } : created
}

const settingsOf = ({ labels, description, ignored }: Pick<Before, 'labels' | 'description' | 'ignored'>) => ({
  labels,
  description,
  ignored,
})

const writtenOf = ({ id, phase, generation }: WriteAnswer, action: Applied['action']) => ({
  id,
  phase,
  generation,
  action,
})

/** The root installation of that name, if there is one. */
export async function findInstallation(
  { client, io }: Session,
  { name, project }: Pick<PlacedManifest, 'name' | 'project'>,
): Promise<Found | null> {
  const { objectByPath } = await client.query(FIND, { project, path: [name] }, { signal: io.signal })
  return objectByPath as Found | null
}
