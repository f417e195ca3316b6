import { labelsInput } from '../../manifest/index.ts'
import { type Answer, type Outcome, outcomeOf, REFUSAL_FRAGMENT } from '../objects/refusal.ts'
import type { Session } from '../session.ts'
import type { PlacedManifest } from './load-manifests.ts'

export interface Applied {
  readonly id: string
  readonly name: string
  readonly project: string
  readonly phase: string
  readonly generation: number
  readonly action: 'created' | 'updated' | 'unchanged'
}

interface Found {
  readonly id: string
  readonly generation: number
}
interface Written extends Found {
  readonly phase: string
}

/** A lost race is retried; more losses than this in a row are no accident. */
const ATTEMPTS = 10

const FIND = `query FindInstallation($project: String!, $path: [String!]!) {
  objectByPath(project: $project, kind: INSTALLATION, path: $path) { id generation }
}`
const CREATE = `mutation Create($input: CreateInstallationInput!) {
  answer: createInstallation(input: $input) { __typename ... on Installation { id phase generation } ...Refusal }
}\n${REFUSAL_FRAGMENT}`
const UPDATE = `mutation Update($input: UpdateInstallationInput!) {
  answer: updateInstallation(input: $input) { __typename ... on Installation { id phase generation } ...Refusal }
}\n${REFUSAL_FRAGMENT}`

/** Deleted or changed by somebody else between our look and our write. */
const LOST_UPDATE = ['NOT_FOUND', 'GENERATION_MISMATCH']
/** Created by somebody else. */
const LOST_CREATE = ['ALREADY_EXISTS']

/** Creates the installation, or updates it if there is one; judged again when somebody else was faster. */
export async function applyManifest(
  session: Session,
  manifest: PlacedManifest,
  reconcile: boolean,
): Promise<Outcome<Applied>> {
  const { name, project, spec, ignored } = manifest
  const wanted = { spec, reconcile, ...labelsInput(manifest) }
  for (let attempt = 1; ; attempt += 1) {
    const existing = await findInstallation(session, manifest)
    const outcome = existing
      ? await update(session, existing, { ...wanted, ...(ignored === undefined ? {} : { ignored }) })
      : await create(session, { project, name, ...wanted }, ignored === true)
    if (outcome.ok) return { ok: true, value: { ...outcome.value, name, project } }
    const lost = existing ? LOST_UPDATE : LOST_CREATE
    if (attempt >= ATTEMPTS || !lost.includes(outcome.refusal.code)) return outcome
  }
}

type Done = Outcome<Written & Pick<Applied, 'action'>>

async function update(session: Session, { id, generation }: Found, input: object): Promise<Done> {
  const updated = await write(session, UPDATE, { id, expectedGeneration: generation, ...input })
  if (!updated.ok) return updated
  const { value } = updated
  return { ok: true, value: { ...value, action: value.generation === generation ? 'unchanged' : 'updated' } }
}

/** Nothing is created as ignored: that only means something once it is in a final phase. */
async function create(session: Session, input: object, ignored: boolean): Promise<Done> {
  const created = await write(session, CREATE, input)
  if (!created.ok) return created
  const ended = ignored ? await write(session, UPDATE, { id: created.value.id, ignored }) : created
  return ended.ok ? { ok: true, value: { ...ended.value, action: 'created' } } : ended
}

async function write({ client, io }: Session, document: string, input: object): Promise<Outcome<Written>> {
  const { answer } = await client.query<{ answer: Answer<Written> | null }>(document, { input }, { signal: io.signal })
  const outcome = outcomeOf(answer)
  if (!outcome.ok) return outcome
  const { id, phase, generation } = outcome.value
  return { ok: true, value: { id, phase, generation } }
}

/** The root installation of that name, if there is one. */
export async function findInstallation(
  { client, io }: Session,
  { name, project }: Pick<PlacedManifest, 'name' | 'project'>,
): Promise<Found | null> {
  const { objectByPath } = await client.query<{ objectByPath: Found | null }>(
    FIND,
    { project, path: [name] },
    { signal: io.signal },
  )
  return objectByPath
}
