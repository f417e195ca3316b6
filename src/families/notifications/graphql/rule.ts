import { WEEKDAYS, type Weekday } from '../../../core/date-time.ts'
import { isAdministrator } from '../../../core/rights.ts'
import { perOperation } from '../../../graphql/context.ts'
import { addHealthFacts, MAX_FACTS } from '../../../graphql/health/facts.ts'
import { loadCounts, loadPages, objectLoader } from '../../../graphql/loaders.ts'
import { LabelRef } from '../../../graphql/objects/object-parts.ts'
import { addRecord, addRecordList, recordFields } from '../../../graphql/objects/project-record.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import { connect } from '../../../graphql/schema/connection.ts'
import { outputCursor } from '../../../graphql/schema/cursors.ts'
import { ObjectKindEnum, PhaseClassEnum, PhaseEnum } from '../../../graphql/schema/enums.ts'
import { pageCost } from '../../../graphql/schema/limits.ts'
import { NodeRef, TreeObjectRef } from '../../../graphql/schema/refs.ts'
import type { Window } from '../../../store/loaders/window.ts'
import { grantsOfEditors } from '../../on-behalf.ts'
import type { QuietHours, QuietRange } from '../../quiet-hours.ts'
import { RULE } from '../commands/rules.ts'
import { rights } from '../rights.ts'
import { mayTell } from '../rules/may-tell.ts'
import { defaultText } from '../rules/message.ts'
import type { CHANNELS, Receiver, RuleFilter, RuleSpec, STATES, Told } from '../rules/spec.ts'
import { countMessages, countPending, loadMessages, type MessageRow, troubledRules } from '../store/notifications.ts'
import { RULES, type RuleRow } from '../store/rules.ts'

export type RuleValue = RuleRow & { readonly __typename: 'NotificationRule' }
export const brand = (row: RuleRow): RuleValue => ({ ...row, __typename: 'NotificationRule' })

const messages = perOperation(({ pool }) => ({
  pages: loadPages((ids, window: Window<number>) => loadMessages(pool, ids, window)),
  counts: loadCounts((ids) => countMessages(pool, ids)),
  pending: loadCounts((ids) => countPending(pool, ids)),
}))

addHealthFacts('rules', rights.read, async ({ pool, viewer }, projects) =>
  (await troubledRules(pool, { projects, isAdministrator: isAdministrator(viewer) }, MAX_FACTS)).map(
    ({ name, project, isBehind, failingSince, failing, lostAt, lost }) => ({
      subject: { project, name, object: null },
      isBehind,
      failing: failingSince && { since: failingSince, message: failing ?? 'Its receiver takes no message.' },
      lost: lostAt && { since: lostAt, message: lost ?? 'A message was given up.' },
    }),
  ),
)

const ChannelEnum = builder.enumType('NotificationChannel', {
  description: 'The form of the messages of a rule.',
  values: {
    WEBHOOK: { description: 'JSON, posted to a URL and signed as Standard Webhooks says.' },
    CLOUDEVENTS: { description: 'A CloudEvent in structured mode, posted to a URL, and signed like WEBHOOK.' },
    SLACK: { description: 'A text, posted to an incoming webhook of Slack, or of a chat with the same form.' },
    EMAIL: { description: 'An e-mail.' },
  } satisfies Readonly<Record<(typeof CHANNELS)[number], object>>,
})
const StateEnum = builder.enumType('NotificationState', {
  description: 'The state of a message.',
  values: {
    PENDING: { description: 'It is sent, or tried again, when it is due.' },
    DELIVERED: { description: 'The receiver has taken it.' },
    FAILED: { description: 'The receiver has not taken it for a day. It can be sent again.' },
  } satisfies Readonly<Record<(typeof STATES)[number], object>>,
})

const FilterRef = builder.objectRef<RuleFilter>('NotificationFilter').implement({
  description: 'Selects phase changes: those that fulfil all that is given.',
  fields: (t) => ({
    projects: t.stringList({
      description: 'Names of projects whose changes it tells, or `*` for all; empty: its own.',
      resolve: ({ projects }) => [...(projects ?? [])],
    }),
    kinds: t.field({
      type: [ObjectKindEnum],
      description: 'Kinds of objects; empty: any.',
      resolve: ({ kinds }) => [...(kinds ?? [])],
    }),
    to: t.field({
      type: [PhaseEnum],
      description: 'Phases that changes lead to; empty: any.',
      resolve: ({ to }) => [...(to ?? [])],
    }),
    classes: t.field({
      type: [PhaseClassEnum],
      description: 'Classes of phases that changes lead to; empty: any.',
      resolve: ({ classes }) => [...(classes ?? [])],
    }),
    reasons: t.stringList({
      description: 'Reasons of changes, such as TIMEOUT, or MISSED of a schedule; empty: any.',
      resolve: ({ reasons }) => [...(reasons ?? [])],
    }),
    rootsOnly: t.exposeBoolean('rootsOnly', { description: 'True: only changes of roots.' }),
    labels: t.field({
      type: [LabelRef],
      description: 'Labels that the root has when the change is looked at; empty: any.',
      resolve: ({ labels }) => Object.entries(labels).map(([key, value]) => ({ key, value })),
    }),
  }),
})
const ReceiverRef = builder.objectRef<Receiver>('NotificationReceiver').implement({
  description: 'The receiver of the messages of a rule.',
  fields: (t) => ({
    channel: t.expose('channel', { type: ChannelEnum, description: 'The form of the messages.' }),
    url: t.exposeString('url', {
      nullable: true,
      description: 'The URL that they are posted to; null with EMAIL, and with SLACK, whose URL is the secret.',
    }),
    secret: t.exposeString('secret', {
      nullable: true,
      description:
        'Name of the secret of the project that signs them, or that is the URL of SLACK; null: they are not signed.',
    }),
    to: t.stringList({ description: 'Addresses of EMAIL; otherwise empty.', resolve: ({ to }) => [...to] }),
  }),
})

const DigestRef = builder.objectRef<NonNullable<RuleSpec['digest']>>('NotificationDigest').implement({
  description: 'Changes of a window in one message.',
  fields: (t) => ({
    windowMs: t.exposeInt('windowMs', { description: 'Milliseconds from the first change to the message.' }),
  }),
})
export const WeekdayEnum = builder.enumType('Weekday', {
  description: 'A day of the week.',
  values: Object.fromEntries(
    WEEKDAYS.map((day) => [day, { description: `${day.charAt(0)}${day.slice(1).toLowerCase()}.` }]),
  ) as { readonly [Day in Weekday]: { readonly description: string } },
})
const QuietRangeRef = builder.objectRef<QuietRange>('NotificationQuietRange').implement({
  description: 'A part of some days.',
  fields: (t) => ({
    days: t.field({
      type: [WeekdayEnum],
      description: 'Days on which it begins; empty: each.',
      resolve: ({ days }) => [...days],
    }),
    from: t.exposeString('from', { description: 'Local time at which it begins, e.g. 22:00.' }),
    to: t.exposeString('to', { description: 'Local time at which it ends; not after `from`: on the next day.' }),
  }),
})
const QuietHoursRef = builder.objectRef<QuietHours>('NotificationQuietHours').implement({
  description: 'Hours in which messages wait.',
  fields: (t) => ({
    timeZone: t.exposeString('timeZone', { description: 'IANA name of the time zone, e.g. Europe/Berlin.' }),
    ranges: t.field({ type: [QuietRangeRef], description: 'The hours.', resolve: ({ ranges }) => [...ranges] }),
  }),
})

export type MessageValue = MessageRow & { readonly __typename: 'Notification' }
export const brandMessage = (row: MessageRow): MessageValue => ({ ...row, __typename: 'Notification' })
export const MessageRef = builder.objectRef<MessageValue>('Notification').implement({
  description: 'A message of a rule, about one phase change or a digest of several.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Unique and permanent: the receiver gets it with each repetition.' }),
    text: t.string({
      description: 'Its content in a sentence: the default text, also if the rule has another.',
      resolve: ({ told }) => defaultText({ rule: null, told }),
    }),
    object: t.field({
      type: TreeObjectRef,
      nullable: true,
      description: 'The object that has changed; null if it is gone or may not be read, for a digest, and for a test.',
      resolve: ({ told }, _, context) =>
        told.type === 'CHANGE' ? objectLoader(context).load(told.change.objectId) : null,
    }),
    sequence: t.field({
      type: 'Sequence',
      nullable: true,
      description: 'Sequence of the change in the log, and of a digest the last one; null for a test.',
      resolve: ({ told }) => sequenceOf(told),
    }),
    changeCount: t.int({
      description: 'Number of changes that it tells, of a digest also those that had no room; 0 for a test.',
      resolve: ({ told }) => (told.type === 'DIGEST' ? told.count : told.type === 'CHANGE' ? 1 : 0),
    }),
    state: t.expose('state', { type: StateEnum, description: 'Its state.' }),
    attempts: t.exposeInt('attempts', { description: 'Number of times that it was sent.' }),
    due: t.expose('due', {
      type: 'DateTime',
      nullable: true,
      description:
        'When it is sent, or tried again, also at the end of its window or of quiet hours; null if it has ended, or waits for an earlier one of its object.',
    }),
    problem: t.exposeString('problem', {
      nullable: true,
      description: 'Why the last attempt has failed; null if none has.',
    }),
    late: t.exposeBoolean('isLate', { description: 'True if somebody has sent it again.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was written.' }),
    endedAt: t.expose('endedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was delivered, or given up; null while it is PENDING.',
    }),
  }),
})
const sequenceOf = (told: Told): number | null => {
  if (told.type === 'CHANGE') return told.change.sequence
  if (told.type === 'DIGEST') return told.lastSequence
  return told.type === 'GAP' ? told.upTo : null
}
const MessageConnection = builder.connectionObject({ name: 'NotificationConnection', type: MessageRef }, {})

export const RuleRef = builder.objectRef<RuleValue>('NotificationRule').implement({
  description: 'Tells phase changes of a project, or of several, to people or other systems.',
  interfaces: [NodeRef],
  fields: (t) => ({
    ...recordFields(t, { name: 'Unique among the rules of its project.' }),
    description: t.exposeString('description', { description: 'A sentence for people; empty if it has none.' }),
    enabled: t.exposeBoolean('isEnabled', {
      description: 'False: it writes and sends nothing, and changes that come meanwhile are not told later.',
    }),
    changes: t.field({
      type: FilterRef,
      description: 'The changes that it tells.',
      resolve: ({ spec }) => spec.changes,
    }),
    receiver: t.field({ type: ReceiverRef, description: 'The receiver.', resolve: ({ spec }) => spec.receiver }),
    text: t.string({
      nullable: true,
      description: 'The text of its messages, with expressions over `rule` and `change`; null: the default text.',
      resolve: ({ spec }: { readonly spec: RuleSpec }) => spec.text,
    }),
    digest: t.field({
      type: DigestRef,
      nullable: true,
      description: 'Collects changes; null: each has a message of its own.',
      resolve: ({ spec }) => spec.digest ?? null,
    }),
    quietHours: t.field({
      type: QuietHoursRef,
      nullable: true,
      description: 'Hours in which messages wait; null: there are none.',
      resolve: ({ spec }) => spec.quietHours ?? null,
    }),
    urgent: t.field({
      type: [PhaseClassEnum],
      description: 'Changes that lead to these classes wait neither for a digest nor for the end of quiet hours.',
      resolve: ({ spec }) => [...(spec.urgent ?? [])],
    }),
    editor: t.string({
      nullable: true,
      description: 'Name of who has edited it last: it tells what that principal may read. Never null.',
      resolve: ({ editor }) => editor.name,
    }),
    mayRead: t.boolean({
      description:
        'False: its last editor has lost the right to edit rules in the project, or, if it tells changes of others, is no administrator any more. So it tells nothing.',
      resolve: async (rule, _, { pool }) => {
        const [grants = []] = await grantsOfEditors(pool, [rule])
        return mayTell(rule, grants)
      },
    }),
    pendingCount: t.int({
      description: 'Number of messages that wait for the receiver, at most 10,000: then it stays behind in the log.',
      resolve: ({ id }, _, context) => messages(context).pending.load(id),
    }),
    notifications: t.field({
      type: MessageConnection,
      description: 'Its messages, the newest first: those that wait, the last 1,000 delivered and 10,000 failed ones.',
      args: t.arg.connectionArgs(),
      complexity: (args) => pageCost(args),
      resolve: ({ id }, args, context) =>
        connect(args, {
          cursor: outputCursor,
          position: ({ seq }: MessageValue) => seq,
          load: async (window) => (await messages(context).pages.load({ id, window })).map(brandMessage),
          count: () => messages(context).counts.load(id),
        }),
    }),
  }),
})

const shown = {
  ...{ field: 'notificationRule', noun: RULE.noun, ref: RuleRef, records: RULES, right: rights.read },
  ...{ limit: 'name' as const, brand },
}
addRecord(shown)
addRecordList(shown)
