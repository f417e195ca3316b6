import type { PlacedManifest } from './load-manifests.ts'
import { type Answer, type Outcome, outcomeOf, REFUSAL_FRAGMENT, type Refusal } from './refusal.ts'
import type { Session } from './session.ts'

export interface Applied {
  readonly id: string
  readonly name: string
  readonly project: string
  readonly phase: string
  readonly generation: number
  readonly action: 'created' | 'updated' | 'unchanged'
}

interface Written {
  readonly id: string
  readonly phase: string
  readonly generation: number
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

/** Creates the installation, or updates it if there is one; judged again when somebody else was faster. */
export async function applyManifest(
  session: Session,
  manifest: PlacedManifest,
  reconcile: boolean,
): Promise<Outcome<Applied>> {
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await applyOnce(session, manifest, reconcile)
    if (outcome.ok || attempt >= ATTEMPTS || !isLostRace(outcome.refusal)) return outcome
  }
}

/** Created, changed or deleted between our look and our write. */
const isLostRace = ({ code }: Refusal): boolean => ['ALREADY_EXISTS', 'GENERATION_MISMATCH', 'NOT_FOUND'].includes(code)

async function applyOnce(session: Session, manifest: PlacedManifest, reconcile: boolean): Promise<Outcome<Applied>> {
  const { name, project, spec, ignored } = manifest
  const existing = await findInstallation(session, manifest)
  const wanted = { spec, reconcile, ...labelsOf(manifest) }
  const outcome = existing
    ? await write(session, UPDATE, {
        ...{ id: existing.id, expectedGeneration: existing.generation, ...wanted },
        ...(ignored === undefined ? {} : { ignored }),
      })
    : await create(session, { project, name, ...wanted }, ignored === true)
  if (!outcome.ok) return outcome
  const { id, phase, generation } = outcome.value
  const changed = existing && generation === existing.generation ? 'unchanged' : 'updated'
  return { ok: true, value: { id, name, project, phase, generation, action: existing ? changed : 'created' } }
}

/** Nothing is created as ignored: that only means something once it is in a final phase. */
async function create(session: Session, input: object, ignored: boolean): Promise<Outcome<Written>> {
  const created = await write(session, CREATE, input)
  if (!created.ok || !ignored) return created
  return await write(session, UPDATE, { id: created.value.id, ignored })
}

async function write({ client, io }: Session, document: string, input: object): Promise<Outcome<Written>> {
  const { answer } = await client.query<{ answer: Answer<Written> | null }>(document, { input }, { signal: io.signal })
  return outcomeOf(answer)
}

/** Left out, labels stay as they are. */
const labelsOf = ({ labels }: PlacedManifest): object =>
  labels ? { labels: Object.entries(labels).map(([key, value]) => ({ key, value })) } : {}

/** The root installation of that name, if there is one. */
export async function findInstallation(
  { client, io }: Session,
  { name, project }: Pick<PlacedManifest, 'name' | 'project'>,
): Promise<{ readonly id: string; readonly generation: number } | null> {
  const { objectByPath } = await client.query<{
    objectByPath: { readonly id: string; readonly generation: number } | null
  }>(FIND, { project, path: [name] }, { signal: io.signal })
  return objectByPath
}
