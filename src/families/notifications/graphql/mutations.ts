import { LabelInput } from '../../../graphql/objects/label-input.ts'
import { addRecordMutations } from '../../../graphql/objects/project-record.ts'
import { builder, type Types } from '../../../graphql/schema/builder.ts'
import { ObjectKindEnum, PhaseClassEnum, PhaseEnum } from '../../../graphql/schema/enums.ts'
import { answer } from '../../../graphql/schema/errors.ts'
import { commandResult } from '../../../graphql/schema/result-union.ts'
import { notificationCommands, RULE } from '../commands/rules.ts'
import { rights } from '../rights.ts'
import { brand, brandMessage, MessageRef, RuleRef, WeekdayEnum } from './rule.ts'

const FilterInput = builder.inputType('NotificationFilterInput', {
  description: 'Selects phase changes: those that fulfil all that is given.',
  fields: (t) => ({
    projects: t.stringList({
      limit: 'chosenProjects',
      description:
        'Names of projects whose changes it tells, or `*` for all, also those that come. Only administrators may set and see it, and its secrets are those of its own project. Left out, null or empty: its own project.',
    }),
    kinds: t.field({
      type: [ObjectKindEnum],
      limit: 'choices',
      description: 'Kinds of objects. Left out, null or empty: any.',
    }),
    to: t.field({
      type: [PhaseEnum],
      limit: 'choices',
      description: 'Phases that changes lead to. Left out, null or empty: any.',
    }),
    classes: t.field({
      type: [PhaseClassEnum],
      limit: 'choices',
      description: 'Classes of phases that changes lead to. Left out, null or empty: any.',
    }),
    reasons: t.stringList({
      limit: 'reasons',
      description: 'Reasons of changes, such as TIMEOUT, or MISSED of a schedule. Left out, null or empty: any.',
    }),
    rootsOnly: t.boolean({ description: 'True: only changes of roots. Left out or null: false.' }),
    labels: t.field({ type: [LabelInput], limit: 'labels', description: 'Labels of the root. Left out or null: any.' }),
  }),
})
type InputBuilder = PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>
const httpFields = (t: InputBuilder) => ({
  url: t.string({
    required: true,
    limit: 'url',
    description: 'An http or https URL. Addresses of private networks are refused when a message is sent.',
  }),
  secret: t.string({
    limit: 'variable',
    description: 'Name of the secret of the project that signs messages. Left out or null: they are not signed.',
  }),
})
const WebhookInput = builder.inputType('NotificationWebhookInput', {
  description: 'JSON that is posted to a URL, and signed as Standard Webhooks says.',
  fields: httpFields,
})
const CloudEventsInput = builder.inputType('NotificationCloudEventsInput', {
  description: 'CloudEvents in structured mode that are posted to a URL, and signed as Standard Webhooks says.',
  fields: httpFields,
})
const SlackInput = builder.inputType('NotificationSlackInput', {
  description: 'Texts that are posted to an incoming webhook of Slack, or of a chat with the same form.',
  fields: (t) => ({
    secret: t.string({
      required: true,
      limit: 'variable',
      description: 'Name of the secret of the project that is the URL of the incoming webhook.',
    }),
  }),
})
const EmailInput = builder.inputType('NotificationEmailInput', {
  description: 'E-mails, by the mail server of PHASELINE_SMTP_URL.',
  fields: (t) => ({
    to: t.stringList({ required: true, limit: 'recipients', description: 'Addresses, from 1 to 20.' }),
  }),
})
const ReceiverInput = builder.inputType('NotificationReceiverInput', {
  description: 'The receiver: exactly one of the fields.',
  fields: (t) => ({
    webhook: t.field({
      type: WebhookInput,
      description: 'A webhook. Left out or null: another field says the receiver.',
    }),
    cloudEvents: t.field({
      type: CloudEventsInput,
      description: 'A receiver of CloudEvents. Left out or null: another field says the receiver.',
    }),
    slack: t.field({
      type: SlackInput,
      description: 'A channel of a chat. Left out or null: another field says the receiver.',
    }),
    email: t.field({ type: EmailInput, description: 'People. Left out or null: another field says the receiver.' }),
  }),
})

const DigestInput = builder.inputType('NotificationDigestInput', {
  description: 'Collects changes into one message.',
  fields: (t) => ({
    windowMs: t.int({
      required: true,
      description: 'Milliseconds from the first change to the message, from 1,000 to 86,400,000.',
    }),
  }),
})
const QuietRangeInput = builder.inputType('NotificationQuietRangeInput', {
  description: 'A part of some days.',
  fields: (t) => ({
    days: t.field({
      type: [WeekdayEnum],
      limit: 'weekdays',
      description: 'Days on which it begins. Left out, null or empty: each.',
    }),
    from: t.string({ required: true, limit: 'timeOfDay', description: 'Local time at which it begins, e.g. 22:00.' }),
    to: t.string({
      required: true,
      limit: 'timeOfDay',
      description: 'Local time at which it ends, e.g. 07:00; not after `from`: on the next day.',
    }),
  }),
})
const QuietHoursInput = builder.inputType('NotificationQuietHoursInput', {
  description: 'Hours in which messages wait.',
  fields: (t) => ({
    timeZone: t.string({
      limit: 'reference',
      description: 'IANA name of the time zone, e.g. Europe/Berlin. Left out or null: UTC.',
    }),
    ranges: t.field({
      type: [QuietRangeInput],
      required: true,
      limit: 'quietRanges',
      description: 'The hours: at least one range, and not the whole week.',
    }),
  }),
})

const settings = (t: InputBuilder) => ({
  description: t.string({ limit: 'description', description: 'A sentence for people. Left out or null: none.' }),
  changes: t.field({
    type: FilterInput,
    description: 'The changes that it tells. Left out or null: all of the project.',
  }),
  receiver: t.field({ type: ReceiverInput, required: true, description: 'The receiver.' }),
  text: t.string({
    limit: 'notificationText',
    description:
      'Text of the messages, which may hold `${…}` over `rule.name`, `rule.project` and the fields of `change`, such as `change.path` and `change.message`. Left out, null or empty: the default text.',
  }),
  digest: t.field({
    type: DigestInput,
    description:
      'Collects the changes of a window into one message, which tells at most 100 and says how many it leaves out. Left out or null: each change has a message of its own.',
  }),
  quietHours: t.field({
    type: QuietHoursInput,
    description: 'Messages wait for the end of these hours. Left out or null: they go at any time.',
  }),
  urgent: t.field({
    type: [PhaseClassEnum],
    limit: 'choices',
    description:
      'Changes that lead to these classes wait neither for a digest nor for the end of quiet hours, and take along what waits before them. Left out, null or empty: all wait.',
  }),
  enabled: t.boolean({ description: 'False: it tells nothing. Left out or null: true.' }),
})
addRecordMutations(RULE, {
  ...{ ref: RuleRef, brand },
  create: {
    command: notificationCommands.createNotificationRule,
    run: ({ notifications }) => notifications.createNotificationRule,
    description:
      'Creates a rule, which tells the changes that come from then on. Refused if the name exists (ALREADY_EXISTS), and beyond 100 rules in a project (LIMIT).',
    fields: settings,
  },
  update: {
    command: notificationCommands.updateNotificationRule,
    run: ({ notifications }) => notifications.updateNotificationRule,
    description:
      'Replaces a rule. From then on it tells what the caller may read. Messages that are written go to the new receiver.',
    fields: settings,
  },
  delete: {
    command: notificationCommands.deleteNotificationRule,
    run: ({ notifications }) => notifications.deleteNotificationRule,
    description: 'Deletes a rule with its messages, also those that are not sent yet.',
  },
})

builder.mutationField('testNotificationRule', (t) =>
  t.fieldWithInput({
    right: rights.send,
    ...commandResult('TestNotificationRuleResult', MessageRef, notificationCommands.testNotificationRule),
    description:
      'Sends a message that tells nothing, to see whether it arrives: its state says so. Refused if the rule is disabled (NOT_READY).',
    typeOptions: { description: 'The rule to try.' },
    input: { id: t.input.id({ required: true, description: 'Id of the rule.' }) },
    resolve: (_, { input }, context) =>
      answer(context.notifications.testNotificationRule(context.viewer, input), ({ message }) => brandMessage(message)),
  }),
)
builder.mutationField('replayNotification', (t) =>
  t.fieldWithInput({
    right: rights.send,
    ...commandResult('ReplayNotificationResult', MessageRef, notificationCommands.replayNotification),
    description: 'Sends a message again that was delivered or has failed. Refused while it is being sent (BUSY).',
    typeOptions: { description: 'The message to send again.' },
    input: { id: t.input.id({ required: true, description: 'Id of the message.' }) },
    resolve: (_, { input }, context) =>
      answer(context.notifications.replayNotification(context.viewer, input), ({ message }) => brandMessage(message)),
  }),
)
