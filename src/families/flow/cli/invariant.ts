import type { Command } from 'commander'
import type { Cli } from '../../../cli/cli.ts'
import { addList, eachPage } from '../../../cli/list.ts'
import { asWritten, ORDER } from '../../../cli/manifests/appliable.ts'
import { addApplyOf } from '../../../cli/manifests/apply-documents.ts'
import { exportShown } from '../../../cli/manifests/export-documents.ts'
import { recordKind } from '../../../cli/manifests/record-kind.ts'
import { describeFields } from '../../../cli/objects/fields.ts'
import { type PageOptions, type RecordName, recordGroup, reportDone } from '../../../cli/objects/record-commands.ts'
import { ALL_PROJECTS, OF_PROJECT } from '../../../cli/options.ts'
import type { Session } from '../../../cli/session.ts'
import { ask } from '../../../cli/terminal/ask.ts'
import { EXIT, type ExitCode } from '../../../cli/terminal/exit.ts'
import { REFUSAL_FRAGMENT } from '../../../client-model/index.ts'
import { type FragmentOf, gql } from '../../../documents/gql.ts'
import {
  appliedInvariant,
  type InvariantManifest,
  invariantInput,
  invariantManifest,
  invariantSchema,
} from '../../../manifest/index.ts'

const INVARIANT = `fragment InvariantFields on Invariant {
  id name project { name } description after { project name sameValues } generation
}`
type FoundInvariant = FragmentOf<typeof INVARIANT>

const FIND = gql(`query FindInvariant($project: String!, $name: String!) {
  invariant(project: $project, name: $name) { ...InvariantFields }
}\n${INVARIANT}`)
const LIST = gql(`query ListInvariants($project: String, $first: Int!, $after: String) {
  invariants(project: $project, first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor } edges { node { ...InvariantFields } }
  }
}\n${INVARIANT}`)
const READ = gql(`query ReadInvariants($ids: [ID!]!) { nodes(ids: $ids) { ...InvariantFields } }\n${INVARIANT}`)
const CREATE = gql(`mutation ApplyNewInvariant($input: CreateInvariantInput!) {
  answer: createInvariant(input: $input) { __typename ... on Invariant { id generation } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)
const UPDATE = gql(`mutation ApplyInvariant($input: UpdateInvariantInput!) {
  answer: updateInvariant(input: $input) { __typename ... on Invariant { id generation } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)
const DELETE = gql(`mutation DeleteInvariant($input: DeleteInvariantInput!) {
  answer: deleteInvariant(input: $input) { __typename ... on DeletedInvariant { name } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)

async function findInvariant({ client, io }: Session, { project, name }: RecordName): Promise<FoundInvariant | null> {
  return (await client.query(FIND, { project, name }, { signal: io.signal })).invariant
}

export const invariants = recordKind<InvariantManifest, InvariantManifest, FoundInvariant>({
  ...{ kind: 'Invariant', noun: 'invariant', order: ORDER.bound, schema: invariantSchema },
  complete: asWritten,
  find: findInvariant,
  manifest: invariantManifest,
  applied: appliedInvariant,
  async write(session, found, { project, name, ...manifest }) {
    const invariant = invariantInput({ ...manifest, name })
    const outcome = found
      ? await ask(session, UPDATE, { id: found.id, expectedGeneration: found.generation, ...invariant })
      : await ask(session, CREATE, { project, name, ...invariant })
    if (!outcome.ok) return outcome
    const { id, generation } = outcome.value
    return { ok: true, value: { said: null, isChanged: generation !== found?.generation, fields: { id } } }
  },
  async *list(session, project, labels) {
    if (labels.length === 0) yield* eachPage(session, { document: LIST, page: (all) => all.invariants }, { project })
  },
  async read({ client, io }, ids) {
    const { nodes } = await client.query(READ, { ids }, { signal: io.signal })
    return nodes.map((node) => (node?.generation === undefined ? null : node))
  },
})

/** `phaseline invariant …`: rules of a project about what may begin. */
export function addInvariant(group: Command, cli: Cli): void {
  const { onRecord, onDelete } = recordGroup(group, cli, { noun: 'invariant', find: findInvariant })
  addApplyOf(group, cli, invariants)
  addList(group.command('list'), cli, {
    options: [OF_PROJECT, ALL_PROJECTS],
    document: LIST,
    select: ({ project }: PageOptions) => ({ project: project ?? null }),
    page: (answer) => answer.invariants,
    key: 'invariants',
    columns: {
      PROJECT: ({ project }) => project.name,
      NAME: ({ name }) => name,
      AFTER: ({ after }) => afterText(after),
      'SAME VALUES': ({ after }) => after.sameValues.join(', '),
    },
    none: 'There is no invariant.',
  }).description('list invariants')
  onRecord('get', get).description('show an invariant')
  onRecord('export', async (session, found) => exportShown(session, invariants, found)).description(
    'print the manifest of an invariant',
  )
  onDelete('the waits for it', async (session, { id }, { project, name }) =>
    reportDone(session, await ask(session, DELETE, { id }), `${project}/${name} deleted`, { project, name }),
  ).description('delete an invariant; jobs that wait for it begin')
}

const afterText = ({ project, name }: FoundInvariant['after']): string => `${project}/${name ?? '(the same name)'}`

async function get(session: Session, found: FoundInvariant): Promise<ExitCode> {
  const { project, name, description, after } = found
  session.emit({ kind: 'INVARIANT', ...found })
  session.say(
    ...describeFields(
      [
        ['invariant', `${project.name}/${name}`],
        ['description', description],
        ['after', afterText(after)],
        ['same values', after.sameValues.join(', ')],
      ],
      session.paint,
    ),
  )
  return EXIT.ok
}
