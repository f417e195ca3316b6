import { asWritten, ORDER } from '../../../cli/manifests/appliable.ts'
import { recordKind, type Written } from '../../../cli/manifests/record-kind.ts'
import { eachRoot } from '../../../cli/objects/object-list.ts'
import type { RecordName } from '../../../cli/objects/record-commands.ts'
import { UPDATE_LABELS } from '../../../cli/objects/update-labels.ts'
import type { Session } from '../../../cli/session.ts'
import { ask } from '../../../cli/terminal/ask.ts'
import { type Outcome, REFUSAL_FRAGMENT } from '../../../client-model/index.ts'
import { type FragmentOf, gql } from '../../../documents/gql.ts'
import {
  appliedSchedule,
  type ScheduleManifest,
  scheduleInput,
  scheduleManifest,
  scheduleSchema,
} from '../../../manifest/index.ts'

/** All that the manifest of a schedule has. */
const SCHEDULE_DOCUMENT = `fragment ScheduleDocument on Schedule {
  id name generation project { name } labels { key value }
  scheduleSpec { cron timeZone every { ms offsetMs } at start until count jitterMs overlap maxQueued catchUp maxCaughtUp graceMs successWithinSeconds run }
}`
type Found = FragmentOf<typeof SCHEDULE_DOCUMENT>

const FIND = gql(`query FindSchedule($project: String!, $path: [String!]!) {
  objectByPath(project: $project, kind: SCHEDULE, path: $path) { ...ScheduleDocument }
}\n${SCHEDULE_DOCUMENT}`)
const READ = gql(`query ReadSchedules($ids: [ID!]!) { nodes(ids: $ids) { ...ScheduleDocument } }\n${SCHEDULE_DOCUMENT}`)
const CREATE = gql(`mutation ApplyNewSchedule($input: CreateScheduleInput!) {
  answer: createSchedule(input: $input) { __typename ... on Schedule { id phase due generation } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)
const UPDATE = gql(`mutation ApplySchedule($input: UpdateScheduleInput!) {
  answer: updateSchedule(input: $input) { __typename ... on Schedule { id phase due generation } ...Refusal }
}\n${REFUSAL_FRAGMENT}`)

export const schedules = recordKind<ScheduleManifest, ScheduleManifest, Found>({
  ...{ kind: 'Schedule', noun: 'schedule', order: ORDER.trigger, objectKind: 'SCHEDULE', schema: scheduleSchema },
  complete: asWritten,
  needs: ({ run: { reconcileInstallation } }) =>
    reconcileInstallation ? [{ kind: 'Installation', name: reconcileInstallation.name }] : [],
  async find({ client, io }, { project, name }) {
    const { objectByPath } = await client.query(FIND, { project, path: [name] }, { signal: io.signal })
    return objectByPath?.id === undefined ? null : objectByPath
  },
  manifest: ({ scheduleSpec, ...found }) => (scheduleSpec ? scheduleManifest({ ...found, spec: scheduleSpec }) : {}),
  // Labels that it leaves out stay as they are.
  applied: (schedule, found) => appliedSchedule({ labels: labelsOf(found), ...schedule }),
  write,
  list: (session, project, labels) => eachRoot(session, 'SCHEDULE', project, labels),
  async read({ client, io }, ids) {
    const { nodes } = await client.query(READ, { ids }, { signal: io.signal })
    return nodes.map((node) => (node?.scheduleSpec ? node : null))
  },
})

const labelsOf = (found: Found | null) =>
  Object.fromEntries((found?.labels ?? []).map(({ key, value }) => [key, value]))

async function write(
  session: Session,
  found: Found | null,
  { project, name, ...schedule }: ScheduleManifest & RecordName,
): Promise<Outcome<Written>> {
  const spec = scheduleInput({ ...schedule, name })
  const labels = Object.entries(schedule.labels ?? {}).map(([key, value]) => ({ key, value }))
  const outcome = found
    ? await ask(session, UPDATE, { id: found.id, expectedGeneration: found.generation, ...spec })
    : await ask(session, CREATE, { project, name, labels, ...spec })
  if (!outcome.ok) return outcome
  const relabelled = found && schedule.labels ? await relabel(session, found, schedule.labels) : null
  if (relabelled && !relabelled.ok) return relabelled
  const { id, phase, due, generation } = outcome.value
  const said = `now ${phase}${due ? `, next at ${due}` : ''}`
  const isChanged = generation !== found?.generation || relabelled !== null
  return { ok: true, value: { said, isChanged, fields: { id, phase, due } } }
}

/** Null: it has these labels, and no others. */
async function relabel(
  session: Session,
  found: Found,
  wanted: Readonly<Record<string, string>>,
): Promise<Outcome<object> | null> {
  const labels = labelsOf(found)
  const set = Object.entries(wanted).flatMap(([key, value]) => (labels[key] === value ? [] : [{ key, value }]))
  const remove = Object.keys(labels).filter((key) => !Object.hasOwn(wanted, key))
  return set.length + remove.length === 0 ? null : await ask(session, UPDATE_LABELS, { id: found.id, set, remove })
}
