import { type Outcome, REFUSAL_FRAGMENT } from '../../client-model/index.ts'
import { gql } from '../../documents/gql.ts'
import type { ResultOf } from '../../documents/typed-document.ts'
import { installationInput } from '../../manifest/index.ts'
import type { Session } from '../session.ts'
import { ask } from '../terminal/ask.ts'
import type { PlacedManifest } from './load-manifests.ts'

export interface Applied {
  readonly id: string
  readonly name: string
  readonly project: string
  readonly phase: string
  readonly generation: number
  readonly action: 'created' | 'updated' | 'unchanged'
}

/** A lost race is retried; a longer series of losses is no coincidence. */
const ATTEMPTS = 10

const FIND = gql(`query FindInstallation($project: String!, $path: [String!]!) {
  objectByPath(project: $project, kind: INSTALLATION, path: $path) { id generation }
}`)
const CREATE = gql(`mutation Create($input: CreateInstallationInput!) {
  answer: createInstallation(input: $input) { __typename ... on Installation { id phase generation } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)
const UPDATE = gql(`mutation Update($input: UpdateInstallationInput!) {
  answer: updateInstallation(input: $input) { __typename ... on Installation { id phase generation } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)

type Found = NonNullable<ResultOf<typeof FIND>['objectByPath']>
type WriteAnswer = Pick<Applied, 'id' | 'phase' | 'generation'>

/** Another client deleted or changed the installation between the read and the write. */
const LOST_UPDATE = ['NOT_FOUND', 'GENERATION_MISMATCH']
/** Another client created the installation. */
const LOST_CREATE = ['ALREADY_EXISTS']

/** Creates the installation, or updates the existing one; tries again when another client was faster. */
export async function applyManifest(
  session: Session,
  manifest: PlacedManifest,
  reconcile: boolean,
): Promise<Outcome<Applied>> {
  const { name, project } = manifest
  for (let attempt = 1; ; attempt += 1) {
    const existing = await findInstallation(session, manifest)
    const outcome = existing
      ? await updateInstallation(session, existing, manifest, reconcile)
      : await createInstallation(session, manifest, reconcile)
    if (outcome.ok) return { ok: true, value: { ...outcome.value, name, project } }
    const lost = existing ? LOST_UPDATE : LOST_CREATE
    if (attempt >= ATTEMPTS || !lost.includes(outcome.refusal.code)) return outcome
  }
}

type WriteOutcome = Outcome<WriteAnswer & Pick<Applied, 'action'>>

/** Makes the installation as its manifest says; refused when it is not of this generation any more. */
export async function updateInstallation(
  session: Session,
  { id, generation }: Found,
  manifest: PlacedManifest,
  reconcile: boolean,
): Promise<WriteOutcome> {
  const input = { id, expectedGeneration: generation, reconcile, ...installationInput(manifest) }
  const updated = await ask(session, UPDATE, input)
  if (!updated.ok) return updated
  const { value } = updated
  return { ok: true, value: writtenOf(value, value.generation === generation ? 'unchanged' : 'updated') }
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
  return objectByPath
}
