import type { Client } from 'phaseline/client'
import { DRY_RUN_FRAGMENT, MANIFEST_FRAGMENT, type Outcome, readDryRun } from 'phaseline/client-model'
import { writeManifest } from 'phaseline/manifest'
import { AskedStore } from '../../data/asked-store.ts'
import { ask } from '../../data/create.ts'
import { CREATED, REFUSAL } from '../../data/documents-create.ts'
import { gql, type ResultOf } from '../../data/gql.ts'
import type { Session } from '../../data/session.ts'
import type { Plan } from './model/plan.ts'

export const CREATE_INSTALLATION = gql(
  `mutation Create($input: CreateInstallationInput!) { answer: createInstallation(input: $input) ${CREATED}`,
)
export const UPDATE_INSTALLATION = gql(
  `mutation Update($input: UpdateInstallationInput!) { answer: updateInstallation(input: $input) ${CREATED}`,
)
const PLAN = gql(`query Plan($input: PlanInstallationInput!) {
  answer: planInstallation(input: $input) {
    __typename ... on InstallationPlan { steps { order action kind path reason } blockers { reason message kind path objectCount }
      broughtCode { path type message permitted } } ...Refusal
  }
}\n${REFUSAL}`)
const DRY_RUN = gql(`mutation DryRun($input: DryRunInstallationInput!) {
  answer: dryRunInstallation(input: $input) { __typename ... on DryRun { id } ...Refusal }
}\n${REFUSAL}`)
const READ_DRY_RUN = gql(`query ReadDryRun($id: ID!) { dryRun(id: $id) { ...OnTargets } }\n${DRY_RUN_FRAGMENT}`)
const EXISTING = gql(`query Existing($project: String!, $path: [String!]!) {
  existing: objectByPath(project: $project, kind: INSTALLATION, path: $path) { id phase generation }
}`)
const MANIFEST_OF = gql(`query ManifestOf($id: ID!) {
  object(id: $id) { __typename id generation parent { id } ...Manifest }
}\n${MANIFEST_FRAGMENT}`)

export const planInstallation = (client: Client, input: object, signal: AbortSignal): Promise<Outcome<Plan>> =>
  ask(client, PLAN, input, { signal })

export type DryRun = NonNullable<ResultOf<typeof READ_DRY_RUN>['dryRun']>
/** Asks the targets what would change, and resolves once each has answered. @param onRead called with each state of it */
export async function dryRunInstallation(
  client: Client,
  input: object,
  { signal, onRead }: { readonly signal: AbortSignal; readonly onRead: (dryRun: DryRun) => void },
): Promise<Outcome<DryRun | null>> {
  const asked = await ask(client, DRY_RUN, input, { signal })
  if (!asked.ok) return asked
  const { id } = asked.value
  const read = async () => (await client.query(READ_DRY_RUN, { id }, { signal })).dryRun
  const pause = async (ms: number): Promise<void> => {
    await new Promise((done) => setTimeout(done, ms))
    signal.throwIfAborted()
  }
  return { ok: true, value: await readDryRun(read, pause, onRead) }
}

export type Existing = NonNullable<ResultOf<typeof EXISTING>['existing']>
export interface Place {
  readonly project: string
  readonly name: string
}
/** The root installation of that name; null when there is none. */
export const existingAt = (
  session: Session,
  { project, name }: Place,
  signal: AbortSignal,
): AskedStore<{ readonly existing: Existing | null }> =>
  new AskedStore(
    session,
    {
      ask: async ({ client }, asking) =>
        name === '' ? { existing: null } : await client.query(EXISTING, { project, path: [name] }, { signal: asking }),
      concerns: (change) => change.kind === 'INSTALLATION' && change.name === name && change.objectId === change.rootId,
    },
    signal,
  )

/** An existing installation as a manifest. */
export interface Opened {
  readonly id: string
  readonly name: string
  /** Generation of the spec that was read. */
  readonly generation: number
  /** A nested installation belongs to its root: it can only be copied, to a root. */
  readonly nested: boolean
  readonly text: string
}

/** Null when there is none; `copy`: with another name. */
export async function openInstallation(
  client: Client,
  { id, copy }: { readonly id: string; readonly copy: boolean },
  signal: AbortSignal,
): Promise<Opened | null> {
  const { object } = await client.query(MANIFEST_OF, { id }, { signal })
  if (object?.__typename !== 'Installation') return null
  const nested = object.parent !== null
  const name = copy || nested ? `${object.name}-copy` : object.name
  const text = writeManifest({ ...object, name, project: object.project.name })
  return { id, name: object.name, generation: object.generation, nested, text }
}
